import { createFileRoute } from '@tanstack/react-router';
import { Privacy } from '../legal/privacy.tsx';

export const Route = createFileRoute('/privacy')({ staticData: { isOpen: true }, component: Privacy });
