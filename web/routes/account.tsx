import { createFileRoute } from '@tanstack/react-router';
import { requireUser } from '../app/guards.ts';
import { AccountPage } from '../pages/account/account-page.tsx';
import { PageSpinner } from '../ui/spinner.tsx';
import { layoutWords } from '#words/layout';
import { type CheckoutSearch, checkoutSearch } from '../rules/destinations.ts';

type Search = CheckoutSearch & { status?: string | undefined };

export const Route = createFileRoute('/account')({
  validateSearch: (search): Search => ({
    ...checkoutSearch(search),
    status: typeof search['status'] === 'string' ? search['status'] : undefined,
  }),
  beforeLoad: requireUser,
  pendingComponent: () => <PageSpinner label={layoutWords.loadingAccount} />,
  component: AccountPage,
});
