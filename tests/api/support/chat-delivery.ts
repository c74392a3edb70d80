import { expect } from 'vitest';
import { newWriter, readChat } from './chat.ts';
import { outboxOf } from './sandbox.ts';
import { eventually, until } from './until.ts';

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
