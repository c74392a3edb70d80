import { useHydrated } from '@tanstack/react-router';
import { useState } from 'react';
import { addressToken } from '../../data/early-start.ts';
import { ExternalSignIn } from './external-sign-in.tsx';
import { LoginScreen } from './login-screen.tsx';

/** Signs in by the external token in the address, else by a code. */
export function LoginPage({ plan }: { plan: string | undefined }) {
  const [error, setError] = useState<string | null>(null);
  const isHydrated = useHydrated();
  const externalToken = isHydrated ? addressToken('externalToken') : null;
  if (externalToken && error === null) return <ExternalSignIn token={externalToken} onFailure={setError} />;
  return <LoginScreen plan={plan} error={error} />;
}
