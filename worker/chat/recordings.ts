import { largestRecordingBytes } from '../contract/chat-limits.ts';
import type { ChatMessage, MessageAuthor, Voice } from '../contract/chat-schemas.ts';
import { isRecording, type Recording } from '../lib/audio.ts';
import { fromBase64, seal, toBase64, unseal } from '../lib/crypto.ts';
import { liveUserOf } from '../live/publish.ts';
import { RequestError } from '../lib/request-error.ts';
import type { WithEnv } from '../env.ts';
import type { Scope } from '../request-scope.ts';
import { chatKeyOf, type ChatRow } from './chat-keys.ts';
import { openMessage } from './message-encryption.ts';
import { allNamesOf, type MessageRef } from './message-ids.ts';

export function sealRecording(
  key: CryptoKey,
  ref: MessageRef,
  bytes: ArrayBuffer,
): Promise<ArrayBuffer> {
  return seal(key, recordingContext(ref), bytes);
}

export async function readRecording(
  { env, settings }: Scope<'settings'> & WithEnv,
  user: ChatRow,
  id: string,
  authors: readonly MessageAuthor[] = ['user', 'solace'],
): Promise<(Recording & Pick<Voice, 'seconds'>) | null> {
  const key = await chatKeyOf(settings, user);
  if (!key) return null;
  const ids = await allNamesOf(settings, user.id, id);
  const found = await liveUserOf(env, user.id).readRecording(user.chatEpoch, ...ids);
  if (!found || !authors.includes(found.message.author)) return null;

  const { message, sealed } = found;
  const { voice } = await openMessage(key, user.id, message);
  if (!voice) return null;
  const bytes = await unseal(
    key,
    recordingContext({
      userId: user.id,
      ...message,
    }),
    sealed,
  );
  return {
    type: voice.type,
    seconds: voice.seconds,
    bytes,
  };
}

export async function* exportRecordings(
  scope: Scope<'settings'> & WithEnv,
  user: ChatRow,
  messages: ChatMessage[],
) {
  for (const { id, author, voice } of messages) {
    const recording = voice ? await readRecording(scope, user, id) : null;
    if (!recording) continue;
    const { type, seconds, bytes } = recording;
    yield { id, author, type, seconds, data: toBase64(bytes) };
  }
}

type Encoded = {
  type: string;
  seconds: number;
  data: string;
};

/** Throws 400 for broken base64, or another size or type. */
export function decodeRecording({ type, seconds, data }: Encoded): Recording & { seconds: number } {
  const bytes = tryBase64(data);
  const recording = bytes &&
    bytes.byteLength <= largestRecordingBytes && {
      type,
      bytes,
    };
  if (recording && isRecording(recording)) return { ...recording, seconds };
  const message = bytes ? 'data must be a recording of its type' : 'data must be base64';
  throw new RequestError('invalidField', {
    message,
    issues: [{ path: 'voice.data', message }],
  });
}

function tryBase64(text: string): ArrayBuffer | null {
  try {
    return fromBase64(text);
  } catch {
    return null;
  }
}

export function sameBytes(one: ArrayBuffer, other: ArrayBuffer): boolean {
  if (one.byteLength !== other.byteLength) return false;
  const [left, right] = [new Uint8Array(one), new Uint8Array(other)];
  return left.every((byte, index) => byte === right[index]);
}

/** It must never show as a document of this site. */
export function recordingResponse({ type, bytes }: Recording): Response {
  return new Response(bytes, {
    headers: {
      'content-type': type,
      'content-length': String(bytes.byteLength),
      'content-disposition': 'attachment',
    },
  });
}

/** The id alone may contain the separator. */
function recordingContext({ userId, id, author }: MessageRef): string {
  return `rec|v1|${userId}|${id}|${author}`;
}
