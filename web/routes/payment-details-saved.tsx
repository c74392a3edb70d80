import { createFileRoute } from '@tanstack/react-router';
import { DetailsSaved } from '../results/details-saved.tsx';

export const Route = createFileRoute('/payment-details-saved')({ component: DetailsSaved });
