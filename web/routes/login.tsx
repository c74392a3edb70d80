import { createFileRoute, redirect } from '@tanstack/react-router';
import { externalToken } from '../external-token.ts';
import { requireVisitor } from '../guards.ts';
import { greet } from '../login/greet.ts';
import { LoginScreen } from '../login/login-screen.tsx';
import { Waiting } from '../ui/waiting.tsx';
import { loginWords } from '../words/login.ts';

type Search = { plan?: string | undefined };

export const Route = createFileRoute('/login')({
  validateSearch: (search): Search => (typeof search['plan'] === 'string' ? { plan: search['plan'] } : {}),
  beforeLoad: () => (externalToken.isWaiting() ? undefined : requireVisitor()),
  loader: signInByExternalToken,
  pendingComponent: () => <Waiting label={loginWords.signingIn} />,
  component: function LoginPage() {
    return <LoginScreen plan={Route.useSearch().plan} problem={Route.useLoaderData()} />;
  },
});

/** Uses the external token that came with the address; answers why it was not good, or null. */
async function signInByExternalToken(): Promise<string | null> {
  const token = externalToken.take();
  if (token === null) return null;
  const { verifyExternalToken } = await import('../sign-in.ts');
  const { success, status, message } = await verifyExternalToken(token);
  if (success) throw redirect({ to: greet(status), replace: true });
  return message ?? loginWords.unexpected;
}
