import { useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { usageFeed } from '../live/usage-feed.ts';
import { usageWords } from '../words/account.ts';

/** Whether the count is live. */
export function FeedSign() {
  const { state } = useSyncExternalStore(usageFeed.subscribe, usageFeed.get);
  return (
    <output className={sign} data-state={state}>
      {usageWords.feed[state]}
    </output>
  );
}

const sign = css({
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
  '&[data-state=live]::before': { backgroundColor: 'primary' },
  '&[data-state=reconnecting]::before, &[data-state=lost]::before': { backgroundColor: 'warm' },
});
