import { planOf } from '#contract/plans';
import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { link } from '#styled/recipes';
import { useSession } from '../../data/use-session.ts';
import { composerWords } from '../../words/chat.ts';

/** The week's count, live; once the allowance is spent, a link to the plans. */
export function Allowance() {
  const used = useSession(({ user }) => user?.messagesUsedThisPeriod ?? null);
  const tier = useSession(({ user }) => user?.metadata.subscriptionTier ?? null);
  const limit = planOf(tier).messageLimit;
  if (used === null || limit === null || limit < 0) return null;
  return (
    <span className={css({ display: 'inline-flex', gap: '2' })}>
      {composerWords.used(used, limit)}
      {used >= limit && (
        <Link to="/plans" className={link()}>
          {composerWords.plans}
        </Link>
      )}
    </span>
  );
}
