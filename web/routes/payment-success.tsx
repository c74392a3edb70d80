import { createFileRoute } from '@tanstack/react-router';
import { PaymentSuccess } from '../results/payment-success.tsx';

export const Route = createFileRoute('/payment-success')({ component: PaymentSuccess });
