import type { Handler } from '../../http/handler.ts';
import { isSignedByWhatsapp, undeliveredIn } from '../../messaging/whatsapp-webhook.ts';
import { log } from '../../lib/log.ts';
import { phoneTag } from '../../lib/phone-tag.ts';
import { RequestError } from '../../lib/request-error.ts';
import { canonicalPhone } from '../../accounts/phone.ts';

export const whatsappWebhook: Handler<'whatsappWebhook'> = async ({ request, rawBody, settings }) => {
  const { WHATSAPP_APP_SECRET: secret } = settings;
  if (!secret) throw new RequestError('notFound');
  const signature = request.headers.get('x-hub-signature-256');
  if (!(await isSignedByWhatsapp(secret, signature, rawBody))) throw new RequestError('invalidBotSignature');
  for (const { recipientId, code } of undeliveredIn(parse(rawBody))) {
    log('info', 'whatsapp_undelivered', {
      phone: await phoneTag(settings.CODE_PEPPER[0]!, canonicalPhone(`+${recipientId}`)),
      code,
    });
  }
  return { received: true };
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError('invalidBody');
  }
}
