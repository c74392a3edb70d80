import { connectionState, openEventStream } from './event-stream.ts';
import { isOlderThan, keepStreamProfile, refetchProfile } from './profile-query.ts';
import { session } from './session.ts';
import type { StreamMessage } from '#contract/usage-stream';
import { readMessage, readOpening, reconnectDelay } from '../rules/stream-events.ts';
import type { PartialProfile } from '../rules/user-profile.ts';

/** The age (ms) up to which a stream without a profile does not fetch it a second time. */
const maxProfileAge = 2000;

let open: { token: string; close: () => void } | null = null;

/** Keeps a stream open while an approved user is signed in. */
export function followLiveUsage(): void {
  session.subscribe(follow);
  document.addEventListener('visibilitychange', retryWhenVisible);
  follow();
}

function follow(): void {
  const { token, user } = session.get();
  const wanted = user !== null && user.status !== 'pending' ? token : null;
  if (open?.token === wanted) return;
  close();
  if (wanted) open = { token: wanted, close: openStream(wanted) };
}

const openStream = (token: string) =>
  openUsageStream(token, {
    onOpen: (profile) => {
      if (profile) keepStreamProfile(token, profile);
      else if (isOlderThan(maxProfileAge, token)) void refetchProfile();
    },
    onMessage: (message) => {
      if (message.type === 'usageUpdate') setCount(message.count);
      else void refetchProfile();
    },
  });

function setCount(count: number): void {
  session.setMessagesUsed(count);
  connectionState.addCount();
}

function close(): void {
  open?.close();
  open = null;
}

/** After the last attempt, a return to the tab starts the attempts again. */
function retryWhenVisible(): void {
  if (document.visibilityState !== 'visible' || connectionState.get().status !== 'lost') return;
  close();
  follow();
}

type Listener = { onOpen: (profile: PartialProfile | null) => void; onMessage: (message: StreamMessage) => void };

/** Keeps a usage stream open until the returned function is called. */
export function openUsageStream(token: string, { onOpen, onMessage }: Listener): () => void {
  return openEventStream({
    token,
    name: 'usageStream',
    delay: reconnectDelay,
    onStatus: connectionState.setStatus,
    onOpen: (data) => onOpen(readOpening(data)),
    onMessage: (data) => {
      const message = readMessage(data);
      if (message) onMessage(message);
    },
  }).close;
}
