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
  const isCounted = used !== null && limit !== null && limit >= 0;
  return (
    <span className={place}>
      {isCounted && composerWords.used(used, limit)}
      {isCounted && used >= limit && (
        <Link to="/plans" className={link()}>
          {composerWords.plans}
        </Link>
      )}
    </span>
  );
}

/** As wide as the text, which comes later than the frame, so that the hint keeps its place. */
const place = css({ display: 'inline-flex', gap: '2', minWidth: '[13rem]', minHeight: '[1lh]' });
