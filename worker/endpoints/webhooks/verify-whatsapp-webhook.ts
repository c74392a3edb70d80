import type { Handler } from '../../http/handler.ts';
import { sha256 } from '../../lib/hex.ts';
import { RequestError } from '../../lib/request-error.ts';

/** Meta's handshake. Compares hashes, so that the duration reveals nothing about the token. */
export const verifyWhatsappWebhook: Handler<'verifyWhatsappWebhook'> = async ({ query, settings }) => {
  const { WHATSAPP_VERIFY_TOKEN: expected } = settings;
  if (!expected) throw new RequestError('notFound');
  if ((await sha256(query['hub.verify_token'])) !== (await sha256(expected))) throw new RequestError('invalidToken');
  return new Response(query['hub.challenge'], { headers: { 'content-type': 'text/plain; charset=utf-8' } });
};
