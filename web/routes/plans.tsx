import { createFileRoute } from '@tanstack/react-router';
import { PlansPage } from '../plans/plans-page.tsx';

export const Route = createFileRoute('/plans')({ component: PlansPage });
