import type { ChatPage } from '../../../worker/contract/chat-schemas.ts';
import { botCall, call, type Settings } from './api.ts';
import { newPerson, type Person } from './person.ts';

/** A user who has accepted the notice. */
export async function newWriter(): Promise<Person> {
  const person = await newPerson();
  await consent(person.token);
  return person;
}

export const consent = (token: string, version = '2026-11') =>
  call('PUT', '/api/user/chat/consent', { token, body: { version } });

export const write = (token: string, text: string, id: string = crypto.randomUUID(), settings?: Settings) =>
  call('POST', '/api/user/chat/messages', { token, body: { id, text }, settings });

export const readChat = async (token: string, query = '') =>
  (await call('GET', `/api/user/chat${query}`, { token })).body as ChatPage;

export const textsOf = async ({ token }: { token: string }) => (await readChat(token)).messages.map(({ text }) => text);

export const clearChat = (token: string) => call('DELETE', '/api/user/chat', { token });

export const reply = (phone: string, text: string, id: string = crypto.randomUUID(), more = {}) =>
  botCall('/api/bot/messages', { phone, id, text, ...more });

/** The state of a message; undefined if the conversation lacks it. */
export const stateOf = async (token: string, id: string) =>
  (await readChat(token)).messages.find((message) => message.id === id)?.state;
