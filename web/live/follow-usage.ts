import { fetchProfile, isFetchingProfile } from '../profile.ts';
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
  openUsageStream({
    // The plan may have changed between the last look at it and the moment the stream stood.
    onOpen: () => void refresh(),
    onMessage: (message) => {
      if (message.type === 'usageUpdate') tellCount(message.count);
      else void refresh();
    },
  });

/** A look that is under way already may be older than the news, so it is followed by another. */
async function refresh(): Promise<void> {
  if (isFetchingProfile()) await fetchProfile({ inBackground: true });
  await fetchProfile({ inBackground: true });
}

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
