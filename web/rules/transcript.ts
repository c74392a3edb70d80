import type { ChatMessage } from '#contract/chat';

/** One line of the conversation on screen: a day, a notice that Solace is an AI, or a message. */
export type TranscriptItem<Message> =
  | { kind: 'day'; key: string; at: string }
  | { kind: 'notice'; key: string }
  | { kind: 'message'; key: string; message: Message };

/** New York's law on AI companions requires a notice at the start, and again after three hours. */
const noticeIntervalMs = 3 * 3_600_000;

type Timed = Pick<ChatMessage, 'at'>;

/**
 * Puts day separators and AI notices between messages. The notice stands at the start, and again before a message, or
 * at `now`, if the last notice is more than three hours old.
 */
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
    if (messageDay !== day) items.push({ kind: 'day', key: `day-${keyOf(message)}`, at: message.at });
    if (at - noticeAt > noticeIntervalMs) {
      items.push({ kind: 'notice', key: `notice-${keyOf(message)}` });
      noticeAt = at;
    }
    day = messageDay;
    items.push({ kind: 'message', key: keyOf(message), message });
  }
  if (now - noticeAt > noticeIntervalMs) items.push({ kind: 'notice', key: 'notice-now' });
  return items;
}
