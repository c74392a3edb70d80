import { createFileRoute } from '@tanstack/react-router';
import { PaymentSuccess } from '../pages/results/payment-success.tsx';
import { checkoutSearch } from '../rules/destinations.ts';

export const Route = createFileRoute('/payment-success')({
  validateSearch: checkoutSearch,
  component: function PaymentSuccessPage() {
    return <PaymentSuccess sessionId={Route.useSearch().session_id} />;
  },
});
