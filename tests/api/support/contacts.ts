import { botCall } from './api.ts';
import { database, deliveredEvents } from './sandbox.ts';

let previous = 2_000_000 + (crypto.getRandomValues(new Uint32Array(1))[0]! % 5_000_000);

/** A unique number: one process runs all files. */
export function newPhone(): string {
  previous += 1;
  return `+1555${previous}`;
}

/** A unique id by which WhatsApp names a person whose number it hides. */
export const newBusinessUserId = () => `US.${crypto.randomUUID().replaceAll('-', '')}`;

/** The business ids of a number's user, each with its proof. */
export async function linkedTo(phone: string) {
  const sql = `select value, proof from aliases join users on users.id = user_id where phone = ? and kind = 'business'`;
  return (await database.execute(sql, [phone])).rows.map(({ value, proof }) => [value, proof]);
}

/** The types of the events about a number when the bot has accepted all, oldest first. */
export const eventTypes = async (phone: string) =>
  (await deliveredEvents(phone)).map(({ type }) => type);

/** A user who has written to the assistant. */
export async function newContact(phone = newPhone()): Promise<{ phone: string }> {
  await botCall('/api/bot/contacts', { phone });
  return { phone };
}

/** Counts messages. */
export const post = (phone: string, count = 1) =>
  botCall('/api/bot/usage', {
    phone,
    count,
  });

export const usageOf = async (phone: string) =>
  (await botCall('/api/bot/entitlements', { phone })).body;

export const contact = (names: object) => botCall('/api/bot/contacts', names);
