import { sql, and, ne, inArray, isNotNull, type SQL } from 'drizzle-orm';
import { isFirstCall, storedResponse } from '../bot/incoming-call.ts';
import {
  applyToPerson,
  linkIdentity,
  mayOwnPhone,
  personStatements,
  phoneOfId,
} from '../accounts/identity.ts';
import { clearPhoneRateLimits, isSpellingOf, type PhoneNumber } from '../accounts/phone.ts';
import { recordContact, upsertUser } from '../accounts/user-record.ts';
import { claimNumber, openLinkSql, sendReservedCode, type Link } from '../sign-in/claim-number.ts';
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
import { trialLinkLifetimeMs } from '../trials/trials.ts';
import {
  allowanceSql,
  countSql,
  totalToPublish,
  usageResponseOf,
  type Found,
} from '../usage/allowance.ts';
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
            identity: linkIdentity,
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
  const { input, db, env, settings, now, waitUntil } = context;
  const { status } = input;
  const statements = personStatements((own) => {
    const changing = and(own, ne(users.status, status), isFirstCall);
    const data = sql`'status', ${status}`;
    const from = sql`from ${users} where ${changing}`;
    const event = insertBotEvent(settings, 'user.approved', now, sql`${users.phone}`, data, from);
    // The event stands first, since it reads the status that the update changes.
    const effects: Record<string, SQL> = {
      ...(status === 'approved' && { event }),
      status: build.update(users).set({ status }).where(changing).getSQL(),
    };
    return {
      response: sql`select json_object('userId', ${users.id}) as answer from ${users} where ${own}`,
      effects,
    };
  });
  const { response: found } = await applyToPerson<{ userId: string }, string>(
    context,
    input,
    statements,
  );
  if (!found) throw unknownPerson();
  if (status === 'pending') {
    expectEnd({ env, waitUntil }, found.userId);
    endStreams({ env, waitUntil }, found.userId, null);
  }
  waitUntil(deliverSoon(db, settings, found.userId));
  return { success: true, status };
};

const unknownPerson = () =>
  new RequestError('notFound', { message: 'Nobody with this number or id is known' });

/** The token is derived from the call's id, so that a replay returns the same link and no token is stored. */
export const botTrials: Handler<'botTrials'> = async (context) => {
  const { input, botCall, settings, now } = context;
  const [pepper] = settings.CODE_PEPPER as [string];
  const token = await keyedHash(pepper, 'trial-link', botCall.id);
  const mac = await keyedHash(pepper, 'trial', token);
  const phone = input.phone ?? (await phoneOfId(context, input.businessUserId!));
  const phoneMacs = await keyedHashes(settings.CODE_PEPPER, 'phone', phone);
  const expiresAt = now + trialLinkLifetimeMs;
  const spent = sql`exists (select 1 from ${usedTrials} where ${inArray(usedTrials.phoneMac, phoneMacs)})`;
  const statements = personStatements((own) => {
    // With a known id and a number that nobody has, the hash would be of the wrong number.
    const theirs = sql`from ${users} where ${own} and ${users.phone} = ${phone}`;
    const facts = sql`select json_object('spent', ${spent}, 'expiresAt', ${expiresAt}) as answer
      ${theirs} and ${isNotNull(users.contactedAt)}`;
    const { tier, days } = input;
    const row = { mac, userId: sql`${users.id}`, phoneMac: phoneMacs[0]!, tier, days, expiresAt };
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

const usageStatements = { text: usageOf('text'), voice: usageOf('voice') };

function usageOf(kind: 'text' | 'voice') {
  return personStatements((own) => ({
    response: allowanceSql(kind, own),
    effects: { countMessages: countSql(own, storedResponse, isFirstCall) },
  }));
}

export const botUsage: Handler<'botUsage'> = async (context) => {
  const { input, env, waitUntil } = context;
  const { response } = await applyToPerson<Found, string>(
    context,
    input,
    usageStatements[input.kind],
    {
      count: input.count,
    },
  );
  const found = response!;
  // A replay publishes again: with the first response, its message may have been lost.
  const published = totalToPublish(found, input.count);
  if (published) waitUntil(publish(env, published.userId, published.total));
  return usageResponseOf(found, input.count);
};

const entitlementStatements = personStatements((own) => ({ response: allowanceSql('text', own) }));

export const botEntitlements: Handler<'botEntitlements'> = async (context) => {
  const { response } = await applyToPerson<Found>(context, context.input, entitlementStatements, {
    count: 1,
  });
  return usageResponseOf(response!, 0);
};

const referralStatements = personStatements((own) => ({
  response: sql`select '{}' as answer from ${users} where ${own}`,
  effects: {
    referral: countToday(
      { kind: 'referral', detail: 'whatsapp' },
      sql.placeholder('now'),
      sql`where ${isFirstCall}`,
    ),
  },
}));

export const botReferrals: Handler<'botReferrals'> = async (context) => {
  const { response } = await applyToPerson<object, string>(
    context,
    context.input,
    referralStatements,
  );
  if (!response) throw unknownPerson();
  return { success: true };
};
