import { createFileRoute } from '@tanstack/react-router';
import { AccountPage } from '../account/account-page.tsx';
import { requireUser } from '../guards.ts';
import { type CheckoutSearch, checkoutSearch } from '../rules/checkout-search.ts';
import { Waiting } from '../ui/waiting.tsx';
import { accountWords } from '../words/account.ts';

type Search = CheckoutSearch & { status?: string };

export const Route = createFileRoute('/account')({
  validateSearch: (search): Search => ({
    ...checkoutSearch(search),
    ...(typeof search['status'] === 'string' ? { status: search['status'] } : {}),
  }),
  beforeLoad: requireUser,
  pendingComponent: () => <Waiting label={accountWords.loading} />,
  component: AccountPage,
});
