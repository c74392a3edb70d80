import { and, eq, isNotNull, not, type SQL } from 'drizzle-orm';
import { rateLimitEvents, users } from '#db/schema';
import { endContest } from '../identity/contest.ts';
import { linkIdentity } from '../identity/link-identity.ts';
import { userOfSql } from '../identity/aliases.ts';
import { phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import { upsertUser } from '../identity/user-record.ts';
import { bindAlias } from '../identity/bindings.ts';
import { fixed, greatest } from '../lib/expressions.ts';
import { isIn } from '../lib/sql.ts';
import type { Reads, Transaction } from '../lib/transaction.ts';
import { firstWeek } from '../usage/week.ts';
import type { Scope } from '../request-scope.ts';
import { applyToPerson, personTransaction, userNamedSql, type Person } from './person.ts';
import type { PersonCall } from './person.ts';

type Contact = Person & {
  whatsappId?: string | null | undefined;
  phoneAsSent?: string | undefined;
};

type Outcome = 'unknown' | 'ofId' | 'ofNumber';

/**
 * Records that a person has written to the assistant, and reads more in the same request. Only
 * the owner of a number can write from it, so a contact clears limits that others may have
 * reached. The first condition that holds decides:
 *
 * | outcome    | condition                            | rows                                   |
 * | ---------- | ------------------------------------ | -------------------------------------- |
 * | `conflict` | two people (`person.ts`)             | see there                              |
 * | `unknown`  | no number, and nobody has the id     | none                                   |
 * | `ofId`     | the id has a user; no number, or one | `bot_calls`; `users.last_contact_at`;  |
 * |            | that nobody has                      | the events of the given number are     |
 * |            |                                      | deleted                                |
 * | `ofNumber` | none of these                        | `bot_calls`; `users` of the number,    |
 * |            |                                      | created if there is none: its contact, |
 * |            |                                      | and at the first one its week, unless  |
 * |            |                                      | a plan is paid; its names in           |
 * |            |                                      | `aliases`; the events of the number    |
 * |            |                                      | are deleted                            |
 *
 * The names: number and spelling as in `identity/aliases.ts`; the id if nobody has it, also
 * instead of one of an `earlier-number`, and number and id are bound to each other. The events:
 * `rate_limit_events` of codes and wrong tries. `ofNumber` also ends a contest if the number is
 * bound to the id (`identity/contest.ts`). `claimed`, `codeSent`, `wrongCode` and `rightCode`:
 * this call again, stored by `claimNumber` or `proveByCode`.
 *
 * `endpoints/bot.ts` goes on: with the claim of an `unknown` id, with the code of a link code. If
 * the user has another number than was given, or none was, the first call deletes the events of
 * that one, and ends its contest, after the response.
 */
export async function recordContact<Named extends Reads>(
  scope: PersonCall & Scope<'settings'>,
  contact: Contact,
  reads: Named,
) {
  const { phone, businessUserId } = contact;
  const tx = await personTransaction(scope, contact, {
    facts: {
      hasNumber: phone === undefined ? fixed(0) : isNotNull(userOfSql('phone', phone)),
    },
    outcomes: ({ isKnown, hasNumber }): { [Each in Outcome]?: SQL } => ({
      ...(phone === undefined && { unknown: not(isKnown) }),
      ...(businessUserId !== undefined && { ofId: and(isKnown, not(hasNumber))! }),
    }),
    otherwise: 'ofNumber',
    unstored: ['unknown'],
    others: ['claimed', 'codeSent', 'wrongCode', 'rightCode'],
  });

  const lastContactAt = greatest(users.lastContactAt, scope.now);
  tx.update(['ofId'], users, { lastContactAt }, eq(users.id, userNamedSql(contact)));
  if (phone !== undefined) await addContactOf(scope, tx, { ...contact, phone });

  const person = scope.db
    .select({ phone: users.phone })
    .from(users)
    .where(eq(users.id, userNamedSql(contact)));
  const applied = await applyToPerson(tx, { ...reads, person });

  const [found] = (applied.reads as { person: { phone: PhoneNumber }[] }).person;
  return { ...applied, phone: found?.phone };
}

async function addContactOf(
  { settings, now }: Scope<'settings' | 'now'>,
  tx: Transaction<Outcome | 'conflict', unknown>,
  {
    phone,
    businessUserId,
    whatsappId = null,
    phoneAsSent = phone,
  }: Contact & { phone: PhoneNumber },
): Promise<void> {
  const sighting = {
    phone,
    proof: 'contact' as const,
    whatsappId,
    assumedWhatsappId: phoneAsSent.slice(1),
    contactedAt: now,
    firstWeek: await firstWeek(phone, settings, now),
  };
  upsertUser(tx, ['ofNumber'], sighting, { settings, now });

  if (businessUserId !== undefined) {
    const written = { phone, businessUserId, settings, at: now };
    await endContest(written, (...update) => tx.update(['ofNumber'], ...update));

    const bindingMac = await bindAlias(settings, businessUserId, phone);
    linkIdentity(tx, ['ofNumber'], { phone, businessUserId, bindingMac, at: now });
  }

  const { codesTo, wrongTriesAt } = await phoneSubjects(settings, phone);
  const limits = isIn(rateLimitEvents.subject, [...codesTo, ...wrongTriesAt]);
  tx.delete(['ofId', 'ofNumber'], rateLimitEvents, limits);
}
