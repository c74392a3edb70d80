import { createFileRoute } from '@tanstack/react-router';
import { ActivateTrial } from '../pages/results/activate-trial.tsx';

export const Route = createFileRoute('/activate-trial')({ component: ActivateTrial });
