import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { isRecent, isSigned } from '../lib/standard-webhooks.ts';
import type { Settings } from '../settings.ts';

/**
 * A signed call; `id` is its idempotency key. Whom it names says `person.ts`.
 * Fingerprints are made on demand: those of a voice take 8 MB.
 */
export type BotCall = {
  /** Never stored: it may contain the number. */
  id: string;
  /** Keyed hashes of the id, the present one first. */
  storedIds: () => Promise<string[]>;
  fingerprint: () => Promise<string>;
  earlierFingerprints: () => Promise<string[]>;
};

type ReadBotCallOptions = {
  settings: Settings;
  request: Request;
  now: number;
};

/** Throws 401; with the server's time if the signature is right. */
export async function readBotCall(
  { settings, request, now }: ReadBotCallOptions,
  readBody: () => Promise<string>,
): Promise<{ botCall: BotCall; body: string }> {
  const id = request.headers.get('webhook-id') ?? '';
  const timestamp = request.headers.get('webhook-timestamp') ?? '';
  const signature = request.headers.get('webhook-signature') ?? '';
  if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp))
    throw new RequestError('invalidBotSignature');

  const sent = { id, timestamp: Number(timestamp) };

  const body = await readBody();
  if (!(await isSigned(settings.require('BOT_WEBHOOK_SECRET'), { ...sent, body }, signature))) {
    log('info', 'bot_refused', { reason: 'signature' });
    throw new RequestError('invalidBotSignature');
  }

  if (!isRecent(sent, now)) {
    const secondsOff = sent.timestamp - Math.floor(now / 1000);
    log('error', 'bot_refused', { reason: 'time', secondsOff });
    throw new RequestError('invalidBotSignature', {
      fields: { serverTime: new Date(now).toISOString() },
    });
  }

  const { pathname } = new URL(request.url);
  const botCall = {
    id,
    storedIds: () => keyedHashes(settings.CODE_PEPPER, 'bot-call-id', id),
    ...fingerprintsOf(settings, () => `${pathname}\n${body}`),
  };

  return { botCall, body };
}

export function comparedBy(
  settings: Settings,
  botCall: BotCall,
  fields: Record<string, unknown>,
): BotCall {
  return {
    ...botCall,
    ...fingerprintsOf(settings, () => JSON.stringify(fields)),
  };
}

/** A body names a number, so its hash is keyed. */
function fingerprintsOf({ CODE_PEPPER: [pepper, ...earlier] }: Settings, text: () => string) {
  return {
    fingerprint: () => keyedHash(pepper!, 'bot-call', text()),
    earlierFingerprints: () => keyedHashes(earlier, 'bot-call', text()),
  };
}
