import { sql, and, eq, ne, inArray, isNotNull, type SQL } from 'drizzle-orm';
import { applyOnce, idempotentStatements, isFirstCall, storedResponse } from '../bot/bot-call.ts';
import { clearPhoneRateLimits, isSpellingOf } from '../accounts/phone.ts';
import { upsertUser } from '../accounts/user.ts';
import { pathIn } from '../contract/languages.ts';
import type { Handler } from '../http/request-context.ts';
import { users, trialLinks, usedTrials } from '#db/schema';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { insertBotEvent } from '../bot/outbox.ts';
import { build, insertSelect } from '../lib/sql.ts';
import { RequestError } from '../lib/request-error.ts';
import { endStreams, expectEnd, publish } from '../live/publish.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { countToday } from '../lib/daily-totals.ts';
import { dayMs } from '../lib/time.ts';
import { allowanceSql, usageResponseOf, countSql, messageValues, type Found } from '../usage/allowance.ts';
import { firstWeek } from '../usage/left-week.ts';
import { weekMs } from '../usage/week.ts';

/** Only the owner of a number can write from it, so a contact clears limits that others may have reached. */
export const botContacts: Handler<'botContacts'> = async (context) => {
  const { input, settings, now } = context;
  const { phone, phoneAsSent, whatsappId = null } = input;
  if (whatsappId !== null && !isSpellingOf(phone, whatsappId)) {
    const message = 'whatsappId must be a spelling of the same number';
    throw new RequestError('invalidField', { message, issues: [{ path: 'whatsappId', message }] });
  }
  const week = await firstWeek(phone, settings, now);
  const contact = { phone, whatsappId, assumedWhatsappId: phoneAsSent.slice(1), contactedAt: now, firstWeek: week };
  const effects = {
    user: upsertUser(contact, settings, now)(isFirstCall),
    limits: await clearPhoneRateLimits(settings, phone, isFirstCall),
  };
  await applyOnce(context, idempotentStatements(sql`select '{}' as answer`, effects));
  return { success: true, known: true };
};

export const botApprovals: Handler<'botApprovals'> = async (context) => {
  const { input, db, env, settings, now, waitUntil } = context;
  const { phone, status } = input;
  const changing = and(eq(users.phone, phone), ne(users.status, status), isFirstCall);
  const data = sql`'status', ${status}`;
  const from = sql`from ${users} where ${changing}`;
  const event = insertBotEvent(settings, 'user.approved', now, sql`${users.phone}`, data, from);
  // The event stands first, since it reads the status that the update changes.
  const effects: Record<string, SQL> = {
    ...(status === 'approved' && { event }),
    status: build.update(users).set({ status }).where(changing).getSQL(),
  };
  const facts = sql`select json_object('userId', ${users.id}) as answer from ${users} where ${eq(users.phone, phone)}`;
  const found = await applyOnce<{ userId: string }>(context, idempotentStatements(facts, effects));
  if (!found) throw new RequestError('notFound', { message: 'Nobody with this number is known' });
  if (status === 'pending') {
    expectEnd({ env, waitUntil }, found.userId);
    endStreams({ env, waitUntil }, found.userId, null);
  }
  waitUntil(deliverSoon(db, settings, phone));
  return { success: true, status };
};

const linkLifetimeMs = 7 * dayMs;

/** The token is derived from the call's id, so a replay returns the same link and no token is stored. */
export const botTrials: Handler<'botTrials'> = async (context) => {
  const { input, botCall, settings, now } = context;
  const { phone } = input;
  const [pepper] = settings.CODE_PEPPER as [string];
  const token = await keyedHash(pepper, 'trial-link', botCall.id);
  const mac = await keyedHash(pepper, 'trial', token);
  const phoneMacs = await keyedHashes(settings.CODE_PEPPER, 'phone', phone);
  const expiresAt = now + linkLifetimeMs;
  const spent = sql`exists (select 1 from ${usedTrials} where ${inArray(usedTrials.phoneMac, phoneMacs)})`;
  const facts = sql`select json_object('spent', ${spent}, 'expiresAt', ${expiresAt}) as answer
    from ${users} where ${and(eq(users.phone, phone), isNotNull(users.contactedAt))}`;
  const row = { mac, userId: sql`${users.id}`, phoneMac: phoneMacs[0]!, tier: input.tier, days: input.days, expiresAt };
  const link = insertSelect(
    trialLinks,
    row,
    sql`from ${users} where ${eq(users.phone, phone)} and ${isFirstCall} and not ${spent}`,
  );
  const statements = idempotentStatements(facts, { link });
  const granted = await applyOnce<{ spent: number; expiresAt: number }>(context, statements);
  if (!granted) throw new RequestError('notFound', { message: 'This number has not written to the assistant' });
  if (granted.spent) throw new RequestError('trialSpent');
  const url = `${settings.SITE_URL}${pathIn(input.language, '/activate-trial')}?token=${token}`;
  return { success: true, url, expiresAt: new Date(granted.expiresAt).toISOString() };
};

const countMessages = countSql(sql`${isFirstCall} and ${storedResponse} ->> 'allowed' = 1`);
const usageStatements = {
  text: idempotentStatements(allowanceSql('text'), { countMessages }),
  voice: idempotentStatements(allowanceSql('voice'), { countMessages }),
};

export const botUsage: Handler<'botUsage'> = async (context) => {
  const { input, env, waitUntil } = context;
  const values = messageValues(input.phone, input.count);
  const found = (await applyOnce<Found>(context, usageStatements[input.kind], values))!;
  const counted = found.allowed === 1 ? input.count : 0;
  // A replay publishes again: with the first response, its message may have been lost.
  if (counted && found.watched) waitUntil(publish(env, found.userId!, totalOf(found, counted)));
  return usageResponseOf(found, counted);
};

function totalOf(found: Found, counted: number) {
  const resetsAt = found.frozen ? null : found.weekStart! + weekMs;
  return { kind: 'total' as const, seq: found.seq! + 1, used: found.used! + counted, resetsAt };
}

const entitlementStatements = idempotentStatements(allowanceSql('text'));

export const botEntitlements: Handler<'botEntitlements'> = async (context) => {
  const values = messageValues(context.input.phone, 1);
  const found = await applyOnce<Found>(context, entitlementStatements, values);
  return usageResponseOf(found!, 0);
};

const known = sql`select '{}' as answer from ${users} where ${users.phone} = ${sql.placeholder('phone')}`;
const referral = countToday(
  { kind: 'referral', detail: 'whatsapp' },
  sql.placeholder('now'),
  sql`where ${isFirstCall}`,
);
const referralStatements = idempotentStatements(known, { referral });

export const botReferrals: Handler<'botReferrals'> = async (context) => {
  const found = await applyOnce<object>(context, referralStatements, { phone: context.input.phone });
  if (!found) throw new RequestError('notFound', { message: 'Nobody with this number is known' });
  return { success: true };
};
