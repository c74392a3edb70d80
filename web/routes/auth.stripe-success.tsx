import { createFileRoute } from '@tanstack/react-router';
import { Processing } from '../results/processing.tsx';

export const Route = createFileRoute('/auth/stripe-success')({ component: Processing });
