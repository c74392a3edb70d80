import { endpoints } from '#contract/endpoints';
import { connectionEstablished, type StreamMessage } from '#contract/stream';
import { request } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { apiBase } from '../config.ts';
import { readMessage } from '../rules/read-message.ts';
import { reconnectDelay } from '../rules/reconnect-delay.ts';
import { usageFeed } from './usage-feed.ts';

type Listener = { onOpen: () => void; onMessage: (message: StreamMessage) => void };

/** Keeps a usage stream open until the returned function is called. */
export function openUsageStream({ onOpen, onMessage }: Listener): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempts = 0;
  let closed = false;

  const connect = async () => {
    const ticket = await ticketOrNull();
    if (closed) return;
    if (ticket === null) return retry();
    source = listen(ticket);
  };

  const listen = (ticket: string) => {
    const opened = new EventSource(addressWith(ticket), { withCredentials: true });
    opened.addEventListener('open', () => {
      attempts = 0;
      usageFeed.state('live');
    });
    opened.addEventListener(connectionEstablished, () => {
      usageFeed.state('live');
      onOpen();
    });
    opened.addEventListener('message', ({ data }) => {
      const message = readMessage(String(data));
      if (message) onMessage(message);
    });
    opened.addEventListener('error', retry);
    return opened;
  };

  // A ticket opens one stream, so the browser's own reconnecting, which repeats the address, is of no use.
  const retry = () => {
    source?.close();
    attempts += 1;
    const delay = closed ? null : reconnectDelay(attempts);
    usageFeed.state(delay === null ? 'lost' : 'reconnecting', attempts);
    if (delay !== null) timer = setTimeout(() => void connect(), delay);
  };

  usageFeed.state('connecting');
  void connect();
  return () => {
    closed = true;
    clearTimeout(timer);
    source?.close();
    usageFeed.state('closed');
  };
}

async function ticketOrNull(): Promise<string | null> {
  return request('streamTicket').then(
    ({ ticket }) => ticket,
    (error: unknown) => {
      if (error instanceof ApiError) error.told = true;
      return null;
    },
  );
}

function addressWith(ticket: string): string {
  return `${apiBase}${endpoints.usageStream.path}?token=${encodeURIComponent(ticket)}`;
}
