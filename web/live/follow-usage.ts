import { fetchProfile } from '../profile.ts';
import { session } from '../session.ts';
import { usageFeed } from './usage-feed.ts';
import { openUsageStream } from './usage-stream.ts';

let close: (() => void) | null = null;

/** Keeps a stream open while an approved person is logged in. */
export function followUsage(): void {
  session.subscribe(follow);
  document.addEventListener('visibilitychange', startAgainWhenLost);
  follow();
}

function follow(): void {
  const { user } = session.get();
  const wanted = user !== null && user.status !== 'pending';
  if (wanted && !close) close = open();
  if (!wanted) stop();
}

const open = () =>
  openUsageStream((message) => {
    if (message.type === 'usageUpdate') tellCount(message.count);
    else void fetchProfile({ inBackground: true });
  });

function tellCount(count: number): void {
  session.setMessagesUsed(count);
  usageFeed.sawCount();
}

function stop(): void {
  close?.();
  close = null;
}

/** A person who comes back to the tab gets five tries more. */
function startAgainWhenLost(): void {
  if (document.visibilityState !== 'visible' || usageFeed.get().state !== 'lost') return;
  stop();
  follow();
}
