import { clearPhoneRateLimits, isSpellingOf, type PhoneNumber } from '../identity/phone.ts';
import { unknownId } from '../identity/aliases.ts';
import { changeStatus } from '../bot/approvals.ts';
import { countUsage, readAllowance } from '../bot/count-usage.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { recordContact } from '../bot/record-contact.ts';
import { countReported } from '../chat/referrals.ts';
import { proveByCode, refusedCode } from '../sign-in/claims.ts';
import { pathIn } from '../contract/languages.ts';
import type { Handler } from '../http/request-context.ts';
import { RequestError } from '../lib/request-error.ts';
import { endStreams, expectEnd, publish } from '../live/publish.ts';
import { claimNumber, resumeClaim } from '../sign-in/claim-number.ts';
import { type Link, readLink } from '../sign-in/link-codes.ts';
import { sendReservedCode } from '../sign-in/send-linked-code.ts';
import { makeTrialLink } from '../trials/make-trial-link.ts';

export const botContacts: Handler<'botContacts'> = async (context) => {
  const { input } = context;
  requireSpelling(input);
  const { businessUserId, linkCode } = input;
  const sentLink = await readLink(context, linkCode);
  const contact = await recordContact(context, input, sentLink);
  const [link] = contact.reads.link;

  switch (contact.outcome) {
    case 'ofId':
    case 'ofNumber':
      await finishContact(context, contact, link);
      break;
    case 'unknown':
      await findNumberOf(context, businessUserId!, link);
      break;
    case 'claimed':
      await resumeClaim(context, businessUserId!, contact.by);
      break;
    case 'wrongCode':
      throw refusedCode();
    case 'rightCode':
    case 'codeSent':
      break;
  }
  return { success: true, known: true };
};

type ContactContext = Parameters<Handler<'botContacts'>>[0];

async function findNumberOf(
  context: ContactContext,
  businessUserId: string,
  link: Link | undefined,
): Promise<void> {
  const { code, linkCode } = context.input;
  if (code !== undefined) return proveByCode(context, businessUserId, code);
  if (linkCode === undefined) throw unknownId();
  return claimNumber(context, businessUserId, link);
}

type Contact = { phone: PhoneNumber | undefined; isFirst: boolean };

async function finishContact(
  context: ContactContext,
  contact: Contact,
  link: Link | undefined,
): Promise<void> {
  const { phone } = context.input;
  const own = contact.phone ?? phone;
  if (link && link.phone === own) await sendReservedCode(context, link);
  if (contact.isFirst && own !== undefined && own !== phone)
    context.waitUntil(clearLimitsSoon(context, own));
}

function requireSpelling({ phone, whatsappId }: ContactContext['input']): void {
  if (whatsappId === undefined || (phone && isSpellingOf(phone, whatsappId))) return;
  const message = 'whatsappId must be a spelling of the same number';
  throw new RequestError('invalidField', {
    message,
    issues: [{ path: 'whatsappId', message }],
  });
}

async function clearLimitsSoon(
  { db, settings }: ContactContext,
  phone: PhoneNumber,
): Promise<void> {
  await scheduler.wait(0);
  await db.run(await clearPhoneRateLimits(settings, phone));
}

export const botApprovals: Handler<'botApprovals'> = async (context) => {
  const { input, db, settings, waitUntil } = context;
  const userId = await changeStatus(context, input, input.status);
  if (input.status === 'pending') {
    expectEnd(context, userId);
    endStreams(context, userId, null);
  }
  waitUntil(deliverSoon(db, settings, userId));
  return { success: true, status: input.status };
};

export const botTrials: Handler<'botTrials'> = async (context) => {
  const { input, settings } = context;
  const { token, expiresAt } = await makeTrialLink(context, input, input);
  const page = pathIn(input.language, '/activate-trial');
  const url = `${settings.SITE_URL}${page}?token=${token}`;
  return {
    success: true,
    url,
    expiresAt: new Date(expiresAt).toISOString(),
  };
};

export const botUsage: Handler<'botUsage'> = async (context) => {
  const { input, env, waitUntil } = context;
  const { usage, publish: published } = await countUsage(context, input, input);
  // The first message may be lost.
  if (published) waitUntil(publish(env, published.userId, published.total));
  return usage;
};

export const botEntitlements: Handler<'botEntitlements'> = (context) =>
  readAllowance(context, context.input);

export const botReferrals: Handler<'botReferrals'> = async (context) => {
  await countReported(context, context.input);
  return { success: true };
};
