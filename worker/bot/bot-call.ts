import { Webhook } from 'standardwebhooks';
import { sha256 } from '../lib/hex.ts';
import { RequestError } from '../lib/request-error.ts';

/**
 * A signed call of the bot. `id` is its webhook-id, the idempotency key of all bot calls; a repeated id must have the
 * same fingerprint.
 */
export type BotCall = { id: string; fingerprint: string };

/** Verifies a Standard Webhooks signature by one of the secrets and returns the call; throws 401. */
export async function verifyBotCall(secrets: string[], request: Request, body: string): Promise<BotCall> {
  const id = request.headers.get('webhook-id') ?? '';
  const timestamp = request.headers.get('webhook-timestamp') ?? '';
  if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) throw new RequestError('invalidBotSignature');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': request.headers.get('webhook-signature') ?? '',
  };
  if (!secrets.some((secret) => signedWith(secret, body, headers))) throw new RequestError('invalidBotSignature');
  return { id, fingerprint: await sha256(`${new URL(request.url).pathname}\n${body}`) };
}

function signedWith(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

/**
 * The same call with a fingerprint of some of its fields: a reader of the database could guess a short text from its
 * hash.
 */
export async function comparedBy({ id }: BotCall, fields: Record<string, unknown>): Promise<BotCall> {
  return { id, fingerprint: await sha256(JSON.stringify(fields)) };
}
