import { Link } from '@tanstack/react-router';
import { longestMessage } from '#contract/chat-limits';
import { planOf } from '#contract/plans';
import { css } from '#styled/css';
import { link } from '#styled/recipes';
import { composerWords } from '#words/chat';
import { untilWords } from '#words/until';
import { useUnlessExpired } from '../../data/expiry.ts';
import { useSession } from '../../data/session.ts';
import { dayAndTimeText } from '../../rules/moments.ts';

type Props = { used: number; hasField: boolean };

export function ComposerNotes({ used, hasField }: Props) {
  return (
    <div className={below}>
      <Allowance />
      <Counter used={used} />
      {hasField && (
        <span
          id="message-hint"
          className={hint}
        >
          {composerWords.hint}
        </span>
      )}
    </div>
  );
}

function Allowance() {
  const used = useSession(({ user }) => user?.messagesUsedThisPeriod ?? null);
  const tier = useSession(({ user }) => user?.metadata.subscriptionTier ?? null);
  const limit = planOf(tier).messageLimit;
  const isCounted = used !== null && limit !== null && limit >= 0;
  return (
    <span className={place}>
      {isCounted && <span>{composerWords.used({ used, limit })}</span>}
      {isCounted && used >= limit && (
        <>
          <NextWeek />
          <Link
            to="/plans"
            className={link()}
          >
            {composerWords.plans}
          </Link>
        </>
      )}
    </span>
  );
}

function NextWeek() {
  const begins = useSession(({ user }) => user?.metadata.resetsAt ?? null);
  const ahead = useUnlessExpired({ until: begins });
  return ahead?.until && <span>{untilWords.week(dayAndTimeText(ahead.until))}</span>;
}

const counterFrom = 0.8 * longestMessage;

function Counter({ used }: { used: number }) {
  const left = longestMessage - used;
  return (
    <output className={left < 0 ? over : undefined}>
      {used >= counterFrom && (left < 0 ? composerWords.over(-left) : composerWords.left(left))}
    </output>
  );
}

const below = css({
  display: 'flex',
  flexWrap: 'wrap',
  columnGap: '4',
  textStyle: 'fine',
  color: 'muted',
});
const hint = css({
  marginInlineStart: { base: '0', md: 'auto' },
  '@media not (any-hover: hover)': { display: 'none' },
});
const over = css({ fontWeight: 'semibold', color: 'danger' });
/** As wide as the later text, so that the hint stays. */
const place = css({
  display: 'inline-flex',
  flexWrap: 'wrap',
  columnGap: '2',
  minWidth: '[min(13rem, 50vw)]',
  minHeight: '[1.6em]',
});
