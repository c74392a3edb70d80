import { botHeaders, call, send, type Settings } from './api.ts';
import { onTrial } from './buying.ts';
import { consent } from './chat.ts';
import type { Person } from './person.ts';

export type Recording = { type: string; bytes: Uint8Array<ArrayBuffer> };

const header: Record<string, string> = {
  'audio/webm':
    '\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm',
  'audio/mp4': '\0\0\0\x20ftypiso5\0\0\x02\0iso6mp41',
  'audio/ogg': `OggS\0\x02${'\0'.repeat(20)}\x01\x13OpusHead\x01\x01`,
};

/** A recording that begins as its container does; the rest is random. */
export function recordingOf(type: string, size = 2000): Recording {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536)
    crypto.getRandomValues(bytes.subarray(at, Math.min(size, at + 65_536)));
  bytes.set(bytesOf(header[type.split(';')[0]!]!));
  return { type, bytes };
}

export const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text, (character) => character.charCodeAt(0));

export async function newSpeaker(): Promise<Person> {
  const person = await onTrial('premium');
  await consent(person.token);
  return person;
}

type RecordingOptions = {
  id?: string;
  seconds?: number | string;
  settings?: Settings;
};

export function sendRecording(
  token: string | undefined,
  { type, bytes }: Recording,
  options: RecordingOptions = {},
) {
  const { id = crypto.randomUUID(), seconds = 4, settings } = options;
  const body = {
    token,
    bytes: bytes.buffer,
    headers: { 'content-type': type },
    settings,
  };
  return call('POST', `/api/user/chat/voice?id=${id}&seconds=${seconds}`, body);
}

/** The response with the recording of a message. */
export const fetchRecording = (token: string, id: string) =>
  send(`/api/user/chat/voice/${encodeURIComponent(id)}`, {
    headers: { authorization: `Bearer ${token}` },
  });

/** The response to the bot that asks for a recording. */
export function fetchAsBot(phone: string, id: string): Promise<Response> {
  const body = JSON.stringify({ phone, id });
  const headers = {
    'content-type': 'application/json',
    ...botHeaders(body),
  };
  return send('/api/bot/voice', { method: 'POST', headers, body });
}
