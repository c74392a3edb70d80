import { consentVersion } from '../../../worker/contract/chat-limits.ts';
import type { ChatMessage, ChatPage } from '../../../worker/contract/chat-schemas.ts';
import { botCall, call, type Settings, vars } from './api.ts';
import { newPerson, type Person } from './person.ts';
import { expect } from 'vitest';
import { eventually, until } from './clock.ts';
import { outboxOf } from './sandbox.ts';

export async function newWriter(): Promise<Person> {
  const person = await newPerson();
  await consent(person.token);
  return person;
}

export const consent = (token: string, version: string = consentVersion) =>
  call('PUT', '/api/user/chat/consent', { token, body: { version } });

export const write = (
  token: string,
  text: string,
  id: string = crypto.randomUUID(),
  settings?: Settings,
) =>
  call('POST', '/api/user/chat/messages', {
    token,
    body: { id, text },
    settings,
  });

export const readChat = async (token: string, query = '') =>
  (await call('GET', `/api/user/chat${query}`, { token })).body as ChatPage;

export const textsOf = async ({ token }: { token: string }) =>
  (await readChat(token)).messages.map(({ text }) => text);

export const clearChat = (token: string) => call('DELETE', '/api/user/chat', { token });

export const reply = (phone: string, text: string, id: string = crypto.randomUUID(), more = {}) =>
  botCall('/api/bot/messages', { phone, id, text, ...more });

/** The state of a message; undefined if the conversation lacks it. */
export const stateOf = async (token: string, id: string) =>
  (await readChat(token)).messages.find((message) => message.id === id)?.state;

/** The `data` of the messages that the bot accepted. */
export async function acceptedBy(phone: string): Promise<
  {
    messageId: string;
    text: string;
    [field: string]: any;
  }[]
> {
  const response = await fetch(`${vars.SANDBOX}/bot/chat/${encodeURIComponent(phone)}`);
  return response.json();
}

export const untilAccepted = (phone: string, count: number) =>
  eventually(async () => {
    const accepted = await acceptedBy(phone);
    expect(accepted).toHaveLength(count);
    return accepted;
  });

/** Waits until the bot has accepted so many messages, and replies as the local bot does when it can reach the site. */
export async function untilReplied(
  { phone, token }: Person,
  count: number,
): Promise<ChatMessage[]> {
  for (const { messageId } of await untilAccepted(phone, count)) {
    await botCall('/api/bot/typing', { phone }, `typing_${messageId}`);
    await botCall('/api/bot/usage', { phone }, `usage_${messageId}`);
    const message = {
      phone,
      id: `reply-${messageId}`,
      text: 'I hear you.',
      replyTo: messageId,
    };
    await botCall('/api/bot/messages', message, `reply_${messageId}`);
  }
  return eventually(async () => {
    const { messages } = await readChat(token);
    expect(messages.filter(({ state }) => state === 'sent')).toEqual([]);
    return messages;
  });
}

export const untilState = (token: string, id: string, state: string) =>
  eventually(async () => expect(await stateOf(token, id)).toBe(state));

/** Waits until nothing about a number waits for the bot. */
export const untilDelivered = (phone: string) =>
  eventually(async () => expect(await outboxOf(phone)).toEqual([]));

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

export const idReused = {
  status: 409,
  body: {
    success: false,
    code: 'id_reused',
    message: 'Message id already used',
  },
};
