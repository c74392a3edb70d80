import { createFileRoute } from '@tanstack/react-router';
import { PaymentSuccess } from '../pages/results/payment-results.tsx';
import { checkoutSearch } from '../rules/browser-input.ts';

export const Route = createFileRoute('/payment-success')({
  validateSearch: checkoutSearch,
  component: function PaymentSuccessPage() {
    return <PaymentSuccess sessionId={Route.useSearch().session_id} />;
  },
});
