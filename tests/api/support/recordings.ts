import { onTrial } from './buying.ts';
import { type Answer, botHeaders, call, send } from './api.ts';
import { consent } from './chat.ts';
import type { Person } from './person.ts';

export type Recording = { type: string; bytes: ArrayBuffer };

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
  return { type, bytes: bytes.buffer };
}

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** A user with voice in the plan who has accepted the notice. */
export async function newSpeaker(): Promise<Person> {
  const person = await onTrial('premium');
  await consent(person.token);
  return person;
}

type Options = { id?: string; seconds?: number | string; settings?: Record<string, string> };

export function sendRecording(
  token: string | undefined,
  { type, bytes }: Recording,
  { id = crypto.randomUUID(), seconds = 4, settings }: Options = {},
): Promise<Answer> {
  const options = { token, bytes, headers: { 'content-type': type }, ...(settings && { settings }) };
  return call('POST', `/api/user/chat/voice?id=${id}&seconds=${seconds}`, options);
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

export async function readBytes(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}
