import type { StreamMessage } from '#contract/usage-stream';
import { readMessage, readOpening } from '../rules/read-message.ts';
import { reconnectDelay } from '../rules/reconnect-delay.ts';
import type { PartialProfile } from '../rules/read-user.ts';
import { connectionState } from './connection-state.ts';
import { openEventStream } from './event-stream.ts';

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
