import { expect } from 'vitest';
import type { ChatMessage } from '../../../worker/contract/chat-schemas.ts';
import { botCall, vars } from './api.ts';
import { newWriter, readChat, stateOf } from './chat.ts';
import { eventually, until } from './clock.ts';
import type { Person } from './person.ts';
import { outboxOf } from './sandbox.ts';

/** The `data` of the messages that the bot accepted. */
export async function acceptedBy(phone: string): Promise<{ messageId: string; text: string; [field: string]: any }[]> {
  const response = await fetch(`${vars.SANDBOX}/bot/chat/${encodeURIComponent(phone)}`);
  return response.json();
}

/** Waits until the bot has accepted so many messages. */
export const untilAccepted = (phone: string, count: number) =>
  eventually(async () => {
    const accepted = await acceptedBy(phone);
    expect(accepted).toHaveLength(count);
    return accepted;
  });

/** Waits until the bot has accepted so many messages, and replies as the local bot does when it can reach the site. */
export async function untilReplied({ phone, token }: Person, count: number): Promise<ChatMessage[]> {
  for (const { messageId } of await untilAccepted(phone, count)) {
    await botCall('/api/bot/typing', { phone }, `typing_${messageId}`);
    await botCall('/api/bot/usage', { phone }, `usage_${messageId}`);
    const message = { phone, id: `reply-${messageId}`, text: 'I hear you.', replyTo: messageId };
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
export const untilDelivered = (phone: string) => eventually(async () => expect(await outboxOf(phone)).toEqual([]));

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
