import { dealWithDispute, isDispute } from '../billing/disputes.ts';
import { customerOf, saveStripeEvent, readStripeEvent } from '../billing/stripe-events.ts';
import { logPostponed, sync } from '../billing/sync.ts';
import type { Handler } from '../http/handlers.ts';
import { sha256 } from '../lib/crypto.ts';
import { log, phoneTag } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import {
  isAboutUs,
  isSignedByWhatsapp,
  signatureOf,
  statusesIn,
  type MessageStatus,
} from '../messaging/whatsapp.ts';
import { isRefund, refundChanged } from '../withdrawal/refunds.ts';
import { canonicalPhone } from '../identity/phone.ts';
import type { Settings } from '../settings.ts';
import { noteStatus } from '../sign-in/code-delivery.ts';

const received = { received: true } as const;

/** The cron job repeats a failed fetch. */
export const stripeWebhook: Handler<'stripeWebhook'> = async (scope) => {
  const { db, settings, now } = scope;
  const event = await readStripeEvent(settings, scope.request, scope.readBody);
  if (event.livemode !== isLiveMode(settings)) return received;

  // Stripe repeats the event until this call has succeeded.
  const customer = isDispute(event) ? await dealWithDispute(scope, event) : customerOf(event);
  if (!customer) return received;

  if (isRefund(event)) await refundChanged(db, customer, now);
  const leased = await saveStripeEvent(db, event, customer, now);
  if (!leased) return received;

  const work = sync(scope, leased).catch((error: unknown) => logPostponed(leased, error));
  scope.waitUntil(work);
  await work;
  return received;
};

const isLiveMode = (settings: Settings) =>
  /^(sk|rk)_live_/.test(settings.require('STRIPE_SECRET_KEY'));

/** The duration reveals nothing about the token. */
export const verifyWhatsappWebhook: Handler<'verifyWhatsappWebhook'> = async ({
  query,
  settings,
}) => {
  const expected = settings.require('WHATSAPP_VERIFY_TOKEN');
  if (!expected) throw new RequestError('notFound');

  const token = query['hub.verify_token'];
  if ((await sha256(token)) !== (await sha256(expected))) throw new RequestError('invalidToken');

  return new Response(query['hub.challenge'], {
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  });
};

export const whatsappWebhook: Handler<'whatsappWebhook'> = async (scope) => {
  const { request, readBody, settings } = scope;
  const secret = settings.require('WHATSAPP_APP_SECRET');
  if (!secret) throw new RequestError('notFound');

  const signature = signatureOf(request);
  if (!signature) throw new RequestError('invalidBotSignature');

  const rawBody = await readBody();
  const isSigned = await isSignedByWhatsapp(secret, signature, rawBody);
  if (!isSigned) throw new RequestError('invalidBotSignature');

  for (const status of statusesIn(parse(rawBody))) {
    await noteStatus(scope, status);
    if (status.state === 'failed') await logUndelivered(settings, status);
  }
  return received;
};

async function logUndelivered({ CODE_PEPPER }: Settings, { recipientId, code }: MessageStatus) {
  if (isAboutUs(code)) return log('error', 'whatsapp_forbidden', { code });

  const phone = await phoneTag(CODE_PEPPER[0]!, canonicalPhone(`+${recipientId}`));
  log('info', 'whatsapp_undelivered', { phone, code });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError('invalidBody');
  }
}
