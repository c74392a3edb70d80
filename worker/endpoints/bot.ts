import { sql, and, inArray, isNotNull, type SQL } from 'drizzle-orm';
import { changeStatus } from '../bot/approvals.ts';
import { countUsage, readAllowance } from '../bot/count-usage.ts';
import { isFirstCall } from '../bot/incoming-call.ts';
import { countReported } from '../chat/referrals.ts';
import {
  applyToPerson,
  linkIdentity,
  mayOwnPhone,
  personStatements,
  phoneOfId,
} from '../accounts/identity.ts';
import { bindAlias, bindTrialLink } from '../lib/bindings.ts';
import { clearPhoneRateLimits, isSpellingOf, type PhoneNumber } from '../accounts/phone.ts';
import { recordContact, upsertUser } from '../accounts/user-record.ts';
import { claimNumber, openLinkSql, sendReservedCode, type Link } from '../sign-in/claim-number.ts';
import { pathIn } from '../contract/languages.ts';
import type { Handler } from '../http/request-context.ts';
import { users, trialLinks, usedTrials } from '#db/schema';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { insertSelect } from '../lib/sql.ts';
import { RequestError } from '../lib/request-error.ts';
import { endStreams, expectEnd, publish } from '../live/publish.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { trialLinkLifetimeMs } from '../trials/trials.ts';
import { firstWeek } from '../usage/week.ts';

/** Only the owner of a number can write from it, so a contact clears limits that others may have reached. */
export const botContacts: Handler<'botContacts'> = async (context) => {
  const { input, settings, now, waitUntil } = context;
  const { phone, whatsappId = null } = input;
  if (whatsappId !== null && !(phone && isSpellingOf(phone, whatsappId))) {
    const message = 'whatsappId must be a spelling of the same number';
    throw new RequestError('invalidField', { message, issues: [{ path: 'whatsappId', message }] });
  }
  const { businessUserId, linkCode } = input;
  const read = linkCode === undefined ? {} : { link: await openLinkSql(context, linkCode) };
  const upsert = phone && (await upsertContact(context, phone));
  const clearLimits = phone && (await clearPhoneRateLimits(settings, phone, isFirstCall));
  const aliasMac = phone && businessUserId ? await bindAlias(settings, businessUserId, phone) : '';
  const statements = personStatements<string>((own) => {
    const user = phoneSql(sql`${own} and ${isFirstCall}`);
    const contact = recordContact(and(own, isFirstCall)!, now);
    if (!upsert || !clearLimits) {
      const response = sql`select '{}' as answer from ${users} where ${own}`;
      return { response, effects: { contact, user, ...read } };
    }
    const effects =
      businessUserId === undefined
        ? { ...upsert(isFirstCall), limits: clearLimits, ...read }
        : // A known id brings its own user, also with a number that nobody has.
          {
            ...upsert(sql`${isFirstCall} and ${mayOwnPhone}`),
            identity: linkIdentity(aliasMac),
            contact,
            limits: clearLimits,
            user,
            ...read,
          };
    return { response: sql`select '{}' as answer`, effects };
  });
  const { response, rows } = await applyToPerson<object, string>(context, input, statements);
  if (!response) {
    if (linkCode === undefined)
      throw new RequestError('notFound', { message: 'Nobody with this id is known' });
    await claimNumber(context, businessUserId!, (rows['link'] as Link[])[0]);
    return { success: true, known: true };
  }
  const [user] = (rows['user'] ?? []) as PhoneRow[];
  const [link] = (rows['link'] ?? []) as Link[];
  if (link && link.phone === (user?.phone ?? phone)) await sendReservedCode(context, link);
  if (user && user.phone !== phone) waitUntil(clearLimitsSoon(context, user.phone));
  return { success: true, known: true };
};

type PhoneRow = { phone: PhoneNumber };

const phoneSql = (own: SQL) => sql`select ${users.phone} as phone from ${users} where ${own}`;

type ContactContext = Parameters<Handler<'botContacts'>>[0];

/** The limits are found by a hash of the number, which a call with the id alone does not know before its response. */
async function clearLimitsSoon(
  { db, settings }: ContactContext,
  phone: PhoneNumber,
): Promise<void> {
  await scheduler.wait(0);
  await db.run(await clearPhoneRateLimits(settings, phone));
}

async function upsertContact({ input, settings, now }: ContactContext, phone: PhoneNumber) {
  const { whatsappId = null, phoneAsSent = phone } = input;
  const week = await firstWeek(phone, settings, now);
  const proof = 'contact' as const;
  const contact = {
    phone,
    proof,
    whatsappId,
    assumedWhatsappId: phoneAsSent.slice(1),
    contactedAt: now,
    firstWeek: week,
  };
  return upsertUser(contact, settings, now);
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

/** The token is derived from the call's id, so that a replay returns the same link and no token is stored. */
export const botTrials: Handler<'botTrials'> = async (context) => {
  const { input, botCall, settings, now } = context;
  const [pepper] = settings.CODE_PEPPER as [string];
  const token = await keyedHash(pepper, 'trial-link', botCall.id);
  const mac = await keyedHash(pepper, 'trial', token);
  const phone = input.phone ?? (await phoneOfId(context, input.businessUserId!));
  const phoneMacs = await keyedHashes(settings.CODE_PEPPER, 'phone', phone);
  const ownerMac = await bindTrialLink(settings, mac, phone);
  const expiresAt = now + trialLinkLifetimeMs;
  const spent = sql`exists (select 1 from ${usedTrials} where ${inArray(usedTrials.phoneMac, phoneMacs)})`;
  const statements = personStatements((own) => {
    // With a known id and a number that nobody has, the hash would be of the wrong number.
    const theirs = sql`from ${users} where ${own} and ${users.phone} = ${phone}`;
    const facts = sql`select json_object('spent', ${spent}, 'expiresAt', ${expiresAt}) as answer
      ${theirs} and ${isNotNull(users.contactedAt)}`;
    const { tier, days } = input;
    const owned = { phoneMac: phoneMacs[0]!, ownerMac };
    const row = { mac, userId: sql`${users.id}`, ...owned, tier, days, expiresAt };
    const link = insertSelect(trialLinks, row, sql`${theirs} and ${isFirstCall} and not ${spent}`);
    return { response: facts, effects: { link } };
  });
  const { response: granted } = await applyToPerson<{ spent: number; expiresAt: number }, 'link'>(
    context,
    input,
    statements,
  );
  if (!granted)
    throw new RequestError('notFound', { message: 'This person has not written to the assistant' });
  if (granted.spent) throw new RequestError('trialSpent');
  const url = `${settings.SITE_URL}${pathIn(input.language, '/activate-trial')}?token=${token}`;
  return { success: true, url, expiresAt: new Date(granted.expiresAt).toISOString() };
};

export const botUsage: Handler<'botUsage'> = async (context) => {
  const { input, env, waitUntil } = context;
  const { usage, publish: published } = await countUsage(context, input, input);
  // A replay publishes again: with the first response, its message may have been lost.
  if (published) waitUntil(publish(env, published.userId, published.total));
  return usage;
};

export const botEntitlements: Handler<'botEntitlements'> = (context) =>
  readAllowance(context, context.input);

export const botReferrals: Handler<'botReferrals'> = async (context) => {
  await countReported(context, context.input);
  return { success: true };
};
