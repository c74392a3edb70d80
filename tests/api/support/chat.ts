import { expect } from 'vitest';
import { type Answer, botCall, call, vars } from './api.ts';
import { newPerson, type Person } from './person.ts';
import { eventually, until } from './clock.ts';
import { outboxOf } from './sandbox.ts';

export type ChatMessage = {
  id: string;
  seq: number;
  author: 'user' | 'solace';
  text: string;
  at: string;
  state: 'sent' | 'delivered' | 'failed';
  replyTo?: string;
  crisis?: true;
  voice?: { seconds: number; type: string; bytes: number };
};

/** A user who has accepted the notice. */
export async function newWriter(): Promise<Person> {
  const person = await newPerson();
  await consent(person.token);
  return person;
}

export const consent = (token: string, version = '2026-11') =>
  call('PUT', '/api/user/chat/consent', { token, body: { version } });

export const write = (
  token: string,
  text: string,
  id: string = crypto.randomUUID(),
  settings?: Record<string, string>,
): Promise<Answer> =>
  call('POST', '/api/user/chat/messages', { token, body: { id, text }, ...(settings && { settings }) });

export const readChat = async (token: string, query = '') =>
  (await call('GET', `/api/user/chat${query}`, { token })).body as {
    revision: number;
    messages: ChatMessage[];
    hasMore: boolean;
    typingUntil: string | null;
    consent: { version: string; at: string } | null;
  };

export const reply = (phone: string, text: string, id: string = crypto.randomUUID(), more = {}) =>
  botCall('/api/bot/messages', { phone, id, text, ...more });

/** The `data` of the messages that the bot accepted. */
export async function acceptedBy(phone: string): Promise<{ messageId: string; text: string; [field: string]: any }[]> {
  const response = await fetch(`${vars.SANDBOX}/bot/chat/${encodeURIComponent(phone)}`);
  return response.json();
}

/** Replies to the messages that the bot has accepted, as the local bot does when it can reach the site. */
async function replyToAll(phone: string): Promise<void> {
  for (const { messageId } of await acceptedBy(phone)) {
    await botCall('/api/bot/typing', { phone }, `typing_${messageId}`);
    await botCall('/api/bot/usage', { phone }, `usage_${messageId}`);
    await botCall('/api/bot/messages', replyOf(phone, messageId), `reply_${messageId}`);
  }
}

const replyOf = (phone: string, messageId: string) => ({
  phone,
  id: `reply-${messageId}`,
  text: 'I hear you.',
  replyTo: messageId,
});

/** Waits until the bot has accepted so many messages, and lets it reply. */
export async function untilReplied({ phone, token }: Person, count: number): Promise<ChatMessage[]> {
  await eventually(async () => expect(await acceptedBy(phone)).toHaveLength(count));
  await replyToAll(phone);
  return eventually(async () => {
    const { messages } = await readChat(token);
    expect(messages.filter(({ state }) => state === 'sent')).toEqual([]);
    return messages;
  });
}

export { outboxOf };

/** The state of a message; undefined if the conversation lacks it. */
export const stateOf = async (token: string, id: string) =>
  (await readChat(token)).messages.find((message) => message.id === id)?.state;

export const untilState = (token: string, id: string, state: string) =>
  eventually(async () => expect(await stateOf(token, id)).toBe(state));

/** Waits until nothing about a number waits for the bot. */
export const untilDelivered = (phone: string) =>
  until(
    `an empty outbox of ${phone}`,
    () => outboxOf(phone),
    (rows) => rows.length === 0,
  );

/** Waits until the bot has not accepted the oldest event of a number, and a later attempt is due. */
export const untilRetried = (phone: string, attempts = 1) =>
  until(
    `a failed attempt for ${phone}`,
    () => outboxOf(phone),
    (rows) => rows.some((row) => Number(row['attempts']) >= attempts && row['leased_until'] === 0),
  );

/** A user whose consent the bot has received. */
export async function newSettledWriter() {
  const person = await newWriter();
  await untilDelivered(person.phone);
  return person;
}
