import { clearPhoneRateLimitsSql, isSpellingOf, type PhoneNumber } from '../identity/phone.ts';
import { unknownId } from '../identity/aliases.ts';
import { endContest } from '../identity/contest.ts';
import { changeStatus } from '../bot/approvals.ts';
import { countUsage, readAllowance } from '../bot/count-usage.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { recordContact } from '../bot/record-contact.ts';
import { countReported } from '../chat/referrals.ts';
import { proveByCode, refusedCode } from '../sign-in/claims.ts';
import { pathIn } from '../contract/languages.ts';
import type { Handler } from '../http/handlers.ts';
import { RequestError } from '../lib/request-error.ts';
import { updateSql } from '../lib/sql.ts';
import { endStreams, expectEnd, publish } from '../live/publish.ts';
import { claimNumber, resumeClaim } from '../sign-in/claim-number.ts';
import { type Link, readLink } from '../sign-in/link-codes.ts';
import { sendReservedCode } from '../sign-in/send-linked-code.ts';
import { makeTrialLink } from '../trials/make-trial-link.ts';

export const botContacts: Handler<'botContacts'> = async (scope) => {
  const { input } = scope;
  requireSpelling(input);

  const { businessUserId, linkCode } = input;
  const sentLink = await readLink(scope, linkCode);
  const contact = await recordContact(scope, input, sentLink);
  const [link] = contact.reads.link;

  switch (contact.outcome) {
    case 'ofId':
    case 'ofNumber':
      await finishContact(scope, contact, link);
      break;
    case 'unknown':
      await findNumberOf(scope, businessUserId!, link);
      break;
    case 'claimed':
      await resumeClaim(scope, businessUserId!, contact.by);
      break;
    case 'wrongCode':
      throw refusedCode();
    case 'rightCode':
    case 'codeSent':
      break;
  }
  return { success: true, known: true };
};

type ContactScope = Parameters<Handler<'botContacts'>>[0];

async function findNumberOf(
  scope: ContactScope,
  businessUserId: string,
  link: Link | undefined,
): Promise<void> {
  const { code, linkCode } = scope.input;
  if (code !== undefined) return proveByCode(scope, businessUserId, code);
  if (linkCode === undefined) throw unknownId();
  return claimNumber(scope, businessUserId, link);
}

type Contact = { phone: PhoneNumber | undefined; isFirst: boolean };

async function finishContact(
  scope: ContactScope,
  contact: Contact,
  link: Link | undefined,
): Promise<void> {
  const { phone, businessUserId } = scope.input;
  const own = contact.phone ?? phone;
  if (link && link.phone === own) await sendReservedCode(scope, link);
  if (contact.isFirst && own !== undefined && own !== phone)
    scope.waitUntil(clearSoon(scope, own, businessUserId!));
}

function requireSpelling({ phone, whatsappId }: ContactScope['input']): void {
  if (whatsappId === undefined || (phone && isSpellingOf(phone, whatsappId))) return;
  const message = 'whatsappId must be a spelling of the same number';
  throw new RequestError('invalidField', {
    message,
    issues: [{ path: 'whatsappId', message }],
  });
}

async function clearSoon(
  { db, settings, now }: ContactScope,
  phone: PhoneNumber,
  businessUserId: string,
): Promise<void> {
  await scheduler.wait(0);
  const limits = db.run(await clearPhoneRateLimitsSql(settings, phone));
  const contest: (typeof limits)[] = [];
  await endContest({ phone, businessUserId, settings, at: now }, (...update) =>
    contest.push(db.run(updateSql(...update))),
  );
  await db.batch([limits, ...contest]);
}

export const botApprovals: Handler<'botApprovals'> = async (scope) => {
  const { input, db, settings, waitUntil } = scope;
  const userId = await changeStatus(scope, input, input.status);
  if (input.status === 'pending') {
    expectEnd(scope, userId);
    endStreams(scope, userId, null);
  }
  waitUntil(deliverSoon(db, settings, userId));
  return { success: true, status: input.status };
};

export const botTrials: Handler<'botTrials'> = async (scope) => {
  const { input, settings } = scope;
  const { token, expiresAt } = await makeTrialLink(scope, input, input);
  const page = pathIn(input.language, '/activate-trial');
  const url = `${settings.SITE_URL}${page}?token=${token}`;
  return {
    success: true,
    url,
    expiresAt: new Date(expiresAt).toISOString(),
  };
};

export const botUsage: Handler<'botUsage'> = async (scope) => {
  const { input, env, waitUntil } = scope;
  const { usage, publish: published } = await countUsage(scope, input, input);
  // A repeated call publishes again, since the first one's message may be lost.
  if (published) waitUntil(publish(env, published.userId, published.total));
  return usage;
};

export const botEntitlements: Handler<'botEntitlements'> = (scope) =>
  readAllowance(scope, scope.input);

export const botReferrals: Handler<'botReferrals'> = async (scope) => {
  await countReported(scope, scope.input);
  return { success: true };
};
