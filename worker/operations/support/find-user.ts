import { eq } from 'drizzle-orm';
import * as v from 'valibot';
import { users, type User } from '#db/schema';
import { openDatabase, type Database } from '../../lib/database.ts';
import { settingsOf, type Settings } from '../../settings.ts';
import { CanonicalPhone, type PhoneNumber } from '../../accounts/phone.ts';
import { UsageError, type Values } from '../target.ts';

/** The database and the settings of an environment; throws if settings are missing. */
export function openEnvironment(values: Values): { db: Database; settings: Settings } {
  const settings = settingsOf(values);
  if (!settings) throw new Error('The settings are not complete. Run `npm run doctor` to see which are missing.');
  return { settings, db: openDatabase(settings, { requests: 0, unreachable: false }) };
}

/** The canonical form of a number in any spelling. */
export function phoneOf(word: string | undefined): PhoneNumber {
  const phone = v.safeParse(CanonicalPhone, word);
  if (!phone.success) throw new UsageError('Give a number with its country code, such as +15551234567.');
  return phone.output;
}

/** The user of a number in any spelling; throws if there is none. */
export async function findUser(db: Database, word: string | undefined): Promise<User> {
  const [user] = await db
    .select()
    .from(users)
    .where(eq(users.phone, phoneOf(word)));
  if (!user) throw new Error('Nobody has this number.');
  return user;
}
