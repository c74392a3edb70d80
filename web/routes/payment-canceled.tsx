import { createFileRoute } from '@tanstack/react-router';
import { PaymentCanceled } from '../pages/results/payment-canceled.tsx';

export const Route = createFileRoute('/payment-canceled')({ component: PaymentCanceled });
