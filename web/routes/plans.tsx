import { createFileRoute } from '@tanstack/react-router';
import { PlansPage } from '../plans/plans-page.tsx';

export const Route = createFileRoute('/plans')({ staticData: { isOpen: true }, component: PlansPage });
