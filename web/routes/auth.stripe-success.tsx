import { createFileRoute } from '@tanstack/react-router';
import { Processing } from '../pages/results/processing.tsx';
import { checkoutSearch } from '../rules/destinations.ts';

export const Route = createFileRoute('/auth/stripe-success')({
  validateSearch: checkoutSearch,
  component: function ProcessingPage() {
    return <Processing sessionId={Route.useSearch().session_id} />;
  },
});
