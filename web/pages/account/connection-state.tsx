import { useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { connectionState } from '../../data/connection-state.ts';
import { usageWords } from '../../words/account.ts';

/** The connection state of the live usage. */
export function ConnectionState() {
  const { status } = useSyncExternalStore(connectionState.subscribe, connectionState.get);
  return (
    <output className={indicator} data-status={status}>
      {usageWords.connection[status]}
    </output>
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
