import { createFileRoute } from '@tanstack/react-router';
import { DetailsSaved } from '../pages/results/details-saved.tsx';
import { checkoutSearch } from '../rules/destinations.ts';

export const Route = createFileRoute('/payment-details-saved')({
  validateSearch: checkoutSearch,
  component: function DetailsSavedPage() {
    return <DetailsSaved sessionId={Route.useSearch().session_id} />;
  },
});
