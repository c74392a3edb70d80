import { expect, vi } from 'vitest';
import { newWriter, readChat } from './chat.ts';
import { outboxOf } from './sandbox.ts';

export { outboxOf };

/** The state of a message; undefined if the conversation lacks it. */
export const stateOf = async (token: string, id: string) =>
  (await readChat(token)).messages.find((message) => message.id === id)?.state;

export const untilState = (token: string, id: string, state: string) =>
  vi.waitFor(async () => expect(await stateOf(token, id)).toBe(state), 8000);

/** A user whose consent the bot has received. */
export async function newSettledWriter() {
  const person = await newWriter();
  await vi.waitFor(async () => expect(await outboxOf(person.phone)).toEqual([]), 5000);
  return person;
}
