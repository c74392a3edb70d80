import { planOf } from '#contract/plans';
import { css } from '#styled/css';
import { card } from '#styled/recipes';
import type { User } from '../../rules/read-user.ts';
import { usageView } from '../../rules/usage-view.ts';
import { ProgressBar } from '../../ui/progress-bar.tsx';
import { accountWords, usageWords } from '../../words/account.ts';
import { CardHead } from './card-head.tsx';
import { ConnectionState } from './connection-state.tsx';
import { RefreshButton } from './refresh-button.tsx';
import { UsageWarning } from './usage-warning.tsx';

/** The used messages of the week, live. */
export function UsageCard({ user, isLoading }: { user: User; isLoading: boolean }) {
  const { label, used, limit, percent, note } = usageView(
    planOf(user.metadata.subscriptionTier),
    user.messagesUsedThisPeriod,
  );
  return (
    <section className={card({ look: 'raised' })} aria-labelledby="usage">
      <CardHead id="usage" title={usageWords.title} beside={<ConnectionState />}>
        <RefreshButton label={accountWords.refreshUsage} />
      </CardHead>
      <div className={css({ display: 'grid', gap: '4' })} aria-busy={isLoading}>
        {limit !== null && (
          <ProgressBar
            label={label}
            value={usageWords.of(used, limit)}
            spoken={usageWords.spoken(used, limit)}
            percent={percent}
            isLoading={isLoading}
          />
        )}
        {note && <p className={css({ textStyle: 'small', color: 'muted' })}>{note}</p>}
      </div>
      {limit !== null && <UsageWarning used={used} limit={limit} />}
    </section>
  );
}
