import { expect } from 'vitest';
import type { ChatMessage, ChatPage } from '../../../worker/contract/chat-schemas.ts';
import { botCall, botHeaders, call, send, type Settings, vars } from './api.ts';
import { onTrial } from './buying.ts';
import { eventually, until } from './clock.ts';
import { newPerson, type Person } from './person.ts';
import { outboxOf } from './sandbox.ts';

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

type Writer = { phone: string; token: string };

/** Waits until the bot has accepted so many messages, and replies as the local bot does when it can reach the site. */
export async function untilReplied({ phone, token }: Writer, count: number): Promise<ChatMessage[]> {
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

/** The state of a message; undefined if the conversation lacks it. */
export const stateOf = async (token: string, id: string) =>
  (await readChat(token)).messages.find((message) => message.id === id)?.state;

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

export type Recording = { type: string; bytes: Uint8Array<ArrayBuffer> };

const header: Record<string, string> = {
  'audio/webm': '\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm',
  'audio/mp4': '\0\0\0\x20ftypiso5\0\0\x02\0iso6mp41',
  'audio/ogg': `OggS\0\x02${'\0'.repeat(20)}\x01\x13OpusHead\x01\x01`,
};

/** A recording that begins as its container does; the rest is random. */
export function recordingOf(type: string, size = 2000): Recording {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, Math.min(size, at + 65_536)));
  bytes.set(bytesOf(header[type.split(';')[0]!]!));
  return { type, bytes };
}

export const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text, (character) => character.charCodeAt(0));

/** A user with voice in the plan who has accepted the notice. */
export async function newSpeaker(): Promise<Person> {
  const person = await onTrial('premium');
  await consent(person.token);
  return person;
}

type RecordingOptions = { id?: string; seconds?: number | string; settings?: Settings };

export function sendRecording(token: string | undefined, { type, bytes }: Recording, options: RecordingOptions = {}) {
  const { id = crypto.randomUUID(), seconds = 4, settings } = options;
  const body = { token, bytes: bytes.buffer, headers: { 'content-type': type }, settings };
  return call('POST', `/api/user/chat/voice?id=${id}&seconds=${seconds}`, body);
}

/** The response with the recording of a message. */
export const fetchRecording = (token: string, id: string) =>
  send(`/api/user/chat/voice/${encodeURIComponent(id)}`, { headers: { authorization: `Bearer ${token}` } });

/** The response to the bot that asks for a recording. */
export function fetchAsBot(phone: string, id: string): Promise<Response> {
  const body = JSON.stringify({ phone, id });
  const headers = { 'content-type': 'application/json', ...botHeaders(body) };
  return send('/api/bot/voice', { method: 'POST', headers, body });
}
