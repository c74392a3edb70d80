import { createFileRoute } from '@tanstack/react-router';
import { type RouterContext, requireGuest } from '../app/guards.ts';
import { addressToken } from '../start/early-start.ts';
import { LoginPage } from '../pages/login/login-page.tsx';
import { type SignInWishes, signInWishes } from '../rules/destinations.ts';

export const Route = createFileRoute('/login')({
  validateSearch: signInWishes,
  // With an external token a signed-in user is asked first.
  beforeLoad: ({ context, search }: { context: RouterContext; search: SignInWishes }) =>
    context.isPrerender || addressToken('externalToken') ? undefined : requireGuest(search.next),
  component: function LoginRoute() {
    return <LoginPage wishes={Route.useSearch()} />;
  },
});
