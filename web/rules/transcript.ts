import { timeText } from '#words/intl';
import type { ChatMessage, Voice } from '#contract/chat-schemas';

export type TranscriptItem<Message> =
  | { kind: 'day'; key: string; at: string }
  | { kind: 'aiNotice'; key: string; at: string }
  | { kind: 'message'; key: string; message: Message };

/** New York's law: a notice at the start, and again after three hours. */
export const aiNoticeIntervalMs = 3 * 3_600_000;

type Timed = Pick<ChatMessage, 'at'>;

export function transcript<Message extends Timed>(
  messages: readonly Message[],
  keyOf: (message: Message) => string,
  now: number,
): TranscriptItem<Message>[] {
  const items: TranscriptItem<Message>[] = [];
  let noticeAt = Number.NEGATIVE_INFINITY;
  let day = '';

  for (const message of messages) {
    const at = Date.parse(message.at);
    const messageDay = new Date(at).toDateString();
    if (messageDay !== day)
      items.push({ kind: 'day', key: `day-${keyOf(message)}`, at: message.at });
    if (at - noticeAt > aiNoticeIntervalMs) {
      items.push({ kind: 'aiNotice', key: `notice-${keyOf(message)}`, at: message.at });
      noticeAt = at;
    }
    day = messageDay;
    items.push({ kind: 'message', key: keyOf(message), message });
  }

  if (now - noticeAt > aiNoticeIntervalMs)
    items.push({ kind: 'aiNotice', key: 'notice-now', at: new Date(now).toISOString() });
  return items;
}

/** Adds reminders. It is apart from `transcript`, whose code is in the chat's served HTML. */
export function withReminders<Message extends Timed>(
  items: readonly TranscriptItem<Message>[],
  reminders: readonly string[],
): TranscriptItem<Message>[] {
  const shown = items.filter(
    (item) => item.kind !== 'aiNotice' || !reminders.some((at) => follows(item.at, at)),
  );
  for (const at of reminders) {
    const next = shown.findIndex(
      (item) => (item.kind === 'message' ? item.message.at : item.at) > at,
    );
    shown.splice(next < 0 ? shown.length : next, 0, { kind: 'aiNotice', key: `notice-${at}`, at });
  }
  return shown;
}

function follows(at: string, earlier: string): boolean {
  const after = Date.parse(at) - Date.parse(earlier);
  return after >= 0 && after <= aiNoticeIntervalMs;
}

type TranscriptParts = Record<'history' | 'live', TranscriptItem<ShownMessage>[]>;

/** `live` begins after the newest message up to `loadedUpTo`; `openedAt` decides whether a notice ends it. */
export function transcriptParts(
  messages: readonly ShownMessage[],
  loadedUpTo: number,
  openedAt: number,
): TranscriptParts {
  const items = transcript(messages, ({ key }) => key, openedAt);
  const isLoaded = (item: TranscriptItem<ShownMessage>) =>
    item.kind === 'message' && item.message.seq !== null && item.message.seq <= loadedUpTo;
  const border = items.findLastIndex(isLoaded) + 1;
  return { history: items.slice(0, border), live: items.slice(border) };
}

/** `seq` is null before the server has it. */
export type ShownMessage = {
  key: string;
  id: string;
  seq: number | null;
  author: ChatMessage['author'];
  text: string;
  at: string;
  state: ChatMessage['state'] | 'sending' | 'unsent';
  crisis: boolean;
  voice: Voice | null;
};

export type PendingMessage = {
  id: string;
  text: string;
  at: string;
  state: 'sending' | 'unsent';
  /** The server has it, and the companion does not. */
  voice?: Voice | null;
};

export function shownMessage({
  id,
  seq,
  author,
  text,
  at,
  state,
  crisis,
  voice,
}: ChatMessage): ShownMessage {
  const key = `${author}-${id}`;
  return { key, id, seq, author, text, at, state, crisis: crisis === true, voice: voice ?? null };
}

/** A failed message that is sent again appears once. */
export function shownMessages(
  messages: readonly ChatMessage[],
  pending: readonly PendingMessage[],
): ShownMessage[] {
  const waiting = new Set(pending.map(({ id }) => id));
  const isWaiting = ({ id, author, state }: ChatMessage) =>
    author === 'user' && state === 'failed' && waiting.has(id);
  const stored = messages.filter((message) => !isWaiting(message));
  const known = new Set(stored.filter(({ author }) => author === 'user').map(({ id }) => id));
  return [
    ...stored.map(shownMessage),
    ...pending
      .filter(({ id }) => !known.has(id))
      .map((message) => ({ voice: null, ...message, ...ownUnsent, key: `user-${message.id}` })),
  ];
}

const ownUnsent = { seq: null, author: 'user', crisis: false } as const;

export function formatTime(iso: string): string {
  const date = new Date(iso);
  return timeText(date.getHours(), date.getMinutes());
}
