import { createFileRoute } from '@tanstack/react-router';
import { ActivateTrial } from '../results/activate-trial.tsx';

type Search = { token?: string };

export const Route = createFileRoute('/activate-trial')({
  validateSearch: ({ token }): Search => (typeof token === 'string' ? { token } : {}),
  component: function ActivateTrialPage() {
    return <ActivateTrial token={Route.useSearch().token} />;
  },
});
