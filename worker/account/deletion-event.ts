import { and, eq } from 'drizzle-orm';
import { aliases } from '#db/schema';
import { sealData } from '../bot/event-data.ts';
import { newEventId } from '../bot/outbox.ts';
import { namesOf } from '../identity/aliases.ts';
import { isOwnAlias } from '../identity/bindings.ts';
import { ownMacs } from '../identity/identity-conflicts.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { valueOf } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Scope } from '../request-scope.ts';

/**
 * What the bot learns; the id by which WhatsApp names the person goes with
 * the account. Throws 503 if the account's row names another number than
 * the account has: nobody else's history may be erased.
 */
export async function deletionEvent(
  { db, settings }: Scope<'db' | 'settings'>,
  { userId, phone }: { userId: string; phone: PhoneNumber },
) {
  const names = await namesOf(db, userId);
  const isTampered = names.some((name) => name.kind === 'phone' && name.value !== name.phone);
  if (isTampered) {
    log('error', 'row_not_bound', { table: 'users' });
    throw new RequestError('unavailable');
  }

  const alias = names.find(({ kind }) => kind === 'business');
  const isOwn = alias && (await isOwnAlias(settings, { ...alias, phone }));

  const eventId = newEventId();
  const said = {
    userId,
    phone,
    ...(isOwn && { businessUserId: alias.value }),
    eventId,
  };
  const sealed = await sealData(settings, { type: 'user.deleted', userId }, said);
  const idMacs = await ownMacs(settings, names);

  return {
    id: eventId,
    data: { sealed },
    idMacs,
    alias: alias?.value ?? null,
  };
}

export const aliasOfSql = (userId: string) =>
  valueOf(aliases.value, and(eq(aliases.userId, userId), eq(aliases.kind, 'business')));
