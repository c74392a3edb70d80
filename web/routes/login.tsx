import { createFileRoute } from '@tanstack/react-router';
import { type RouterContext, requireGuest } from '../app/guards.ts';
import { addressToken } from '../data/early-start.ts';
import { LoginPage } from '../pages/login/login-page.tsx';

type Search = { plan?: string | undefined };

export const Route = createFileRoute('/login')({
  validateSearch: (search): Search => (typeof search['plan'] === 'string' ? { plan: search['plan'] } : {}),
  // A signed-in user with an external token is asked first.
  beforeLoad: ({ context }: { context: RouterContext }) =>
    context.isPrerender || addressToken('externalToken') ? undefined : requireGuest(),
  component: function LoginRoute() {
    return <LoginPage plan={Route.useSearch().plan} />;
  },
});
