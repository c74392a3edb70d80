import { createFileRoute } from '@tanstack/react-router';
import { AccountPage } from '../account/account-page.tsx';
import { requireUser } from '../guards.ts';
import { Waiting } from '../ui/waiting.tsx';
import { accountWords } from '../words/account.ts';

type Search = { session_id?: string; status?: string };

export const Route = createFileRoute('/account')({
  validateSearch: ({ session_id, status }): Search => ({
    ...(typeof session_id === 'string' ? { session_id } : {}),
    ...(typeof status === 'string' ? { status } : {}),
  }),
  beforeLoad: requireUser,
  pendingComponent: () => <Waiting label={accountWords.loading} />,
  component: AccountPage,
});
