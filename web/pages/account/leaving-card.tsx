import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Output } from '#contract/endpoints';
import { planOf } from '#contract/plans';
import { button } from '#styled/recipes';
import { isWithdrawable } from '#words/language';
import { leavingWords } from '#words/leaving';
import { subscriptionQuery } from '../../data/trial-subscription.ts';
import { formatDate } from '../../rules/formats.ts';
import type { User } from '../../rules/user-profile.ts';
import { Alert } from '../../ui/alert.tsx';
import { AccountAction, AccountCard } from './account-layout.tsx';

type Open = NonNullable<Output<'getSubscription'>['withdrawal']>;

export default function LeavingCard({ user, token }: { user: User; token: string | null }) {
  const { cancelAtDate, subscriptionTier } = user.metadata;
  const { data } = useQuery(subscriptionQuery(user, token));
  const open = data?.withdrawal;
  const isPaid = !user.isTrial && planOf(subscriptionTier).id !== 'free';
  // A trial ends by itself, and may hide a plan.
  const hasHiddenPlan = user.isTrial && Boolean(data?.subscription);
  const hasPlan = isPaid || cancelAtDate !== null || hasHiddenPlan;
  if (!hasPlan && !open) return null;

  return (
    <AccountCard
      id="leaving"
      title={leavingWords.title}
    >
      {isWithdrawable && open && <OpenWithdrawal open={open} />}
      <WayOut
        id="cancel-plan"
        to="/cancel"
        hint={
          cancelAtDate ? leavingWords.keepHint(formatDate(cancelAtDate)) : leavingWords.cancelHint
        }
      >
        {cancelAtDate ? leavingWords.keep : leavingWords.cancel}
      </WayOut>
      {isWithdrawable && (
        <WayOut
          id="withdraw"
          to="/withdraw"
          hint={leavingWords.withdrawHint}
        >
          {leavingWords.withdraw}
        </WayOut>
      )}
    </AccountCard>
  );
}

type WayOutProps = { id: string; to: '/cancel' | '/withdraw'; hint: string; children: string };

function WayOut({ id, to, hint, children }: WayOutProps) {
  return (
    <AccountAction
      id={id}
      hint={hint}
    >
      <Link
        to={to}
        className={button({ look: 'outline', wide: true })}
        aria-describedby={`${id}-hint`}
      >
        {children}
      </Link>
    </AccountAction>
  );
}

function OpenWithdrawal({ open }: { open: Open }) {
  const { state, submittedAt, objectUntil } = open;
  const date = formatDate(submittedAt);
  if (objectUntil)
    return (
      <Alert look="warm">{leavingWords.waiting({ date, until: formatDate(objectUntil) })}</Alert>
    );
  return <Alert>{leavingWords.states[state](date)}</Alert>;
}
