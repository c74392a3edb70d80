import { planOf } from '#contract/plans';
import { css } from '#styled/css';
import { button, progress } from '#styled/recipes';
import type { User } from '../../rules/user-profile.ts';
import { usageView } from '../../rules/account-view.ts';
import { isAllowanceSpent } from '../../rules/spent-allowance.ts';
import { dayAndTimeText } from '../../rules/moments.ts';
import { useUnlessExpired } from '../../data/expiry.ts';
import { accountWords, usageWords } from '#words/account';
import { untilWords } from '#words/until';
import { AccountCard, RefreshButton } from './account-layout.tsx';
import { useSyncExternalStore, useId, useRef } from 'react';
import { connectionState } from '../../data/event-stream.ts';
import { visuallyHidden } from '../../ui/visually-hidden.ts';

export function UsageCard({ user, isLoading }: { user: User; isLoading: boolean }) {
  const element = useRef<HTMLElement>(null);
  const { label, used, limit, percent, note } = usageView(
    planOf(user.metadata.subscriptionTier),
    user.messagesUsedThisPeriod,
  );
  const week = useUnlessExpired({ until: user.metadata.resetsAt });
  return (
    <AccountCard
      ref={element}
      tabIndex={-1}
      id="usage"
      title={usageWords.title}
      beside={<ConnectionBadge />}
      action={<RefreshButton label={accountWords.refreshUsage} />}
    >
      <div
        className={css({ display: 'grid', gap: '4' })}
        aria-busy={isLoading}
      >
        {limit !== null && (
          <ProgressBar
            label={label}
            value={usageWords.of({ used, limit })}
            spoken={usageWords.spoken({ used, limit })}
            percent={percent}
            isLoading={isLoading}
          />
        )}
        {isAllowanceSpent(user) && week?.until && (
          <p className={css({ textStyle: 'small' })}>
            {untilWords.week(dayAndTimeText(week.until))}
          </p>
        )}
        {note && <p className={css({ textStyle: 'small', color: 'muted' })}>{note}</p>}
        <ConnectAgain focusCard={() => element.current?.focus()} />
      </div>
      {limit !== null && (
        <UsageWarning
          used={used}
          limit={limit}
        />
      )}
    </AccountCard>
  );
}

function ConnectionBadge() {
  const { status } = useSyncExternalStore(connectionState.subscribe, connectionState.get);
  return (
    <output
      className={indicator}
      data-status={status}
    >
      {usageWords.connection[status]}
    </output>
  );
}

/** The pressed button disappears, so the card takes the focus. */
function ConnectAgain({ focusCard }: { focusCard: () => void }) {
  const { status } = useSyncExternalStore(connectionState.subscribe, connectionState.get);
  const connect = async () => {
    focusCard();
    // The page must load without it.
    const { sessionStream } = await import('../../data/session-stream.ts');
    sessionStream.reconnect();
  };
  if (status !== 'lost') return null;
  return (
    <button
      type="button"
      className={button({ look: 'outline' })}
      onClick={() => void connect()}
    >
      {usageWords.connectAgain}
    </button>
  );
}

const indicator = css({
  display: 'flex',
  alignItems: 'center',
  gap: '2',
  textStyle: 'fine',
  color: 'muted',
  '&::before': {
    content: '""',
    width: '[0.5rem]',
    height: '[0.5rem]',
    borderRadius: 'full',
    backgroundColor: 'edge',
    _forced: { borderWidth: '[4px]' },
  },
  '&[data-status=live]::before': { backgroundColor: 'primary' },
  '&[data-status=reconnecting]::before, &[data-status=lost]::before': { backgroundColor: 'warm' },
});

const almost = 0.8;

function UsageWarning({ used, limit }: { used: number; limit: number }) {
  return <output className={visuallyHidden}>{warning(used, limit)}</output>;
}

function warning(used: number, limit: number): string {
  if (used >= limit) return usageWords.reached;
  // Without the number it is announced once, not with each message.
  return used >= limit * almost ? usageWords.almost : '';
}

type Props = { label: string; value: string; spoken: string; percent: number; isLoading?: boolean };

/** Ark's Progress would add 6 KiB of scripts. */
function ProgressBar({ label, value, spoken, percent, isLoading = false }: Props) {
  const styles = progress();
  const labelId = useId();
  return (
    <div
      className={styles.root}
      data-loading={isLoading || undefined}
    >
      <span
        id={labelId}
        className={styles.label}
      >
        {label}
      </span>
      <span className={styles.value}>{value}</span>
      <div
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- browsers draw <progress> differently
        role="progressbar"
        className={styles.track}
        aria-labelledby={labelId}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={spoken}
      >
        <div
          className={styles.range}
          data-full={percent === 100 ? '' : undefined}
          style={{ width: `${percent}%` }}
        />
      </div>
    </div>
  );
}
