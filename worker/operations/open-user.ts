import { eq } from 'drizzle-orm';
import * as v from 'valibot';
import { users } from '#db/schema';
import { canonicalPhone } from '../auth/canonical-phone.ts';
import { Phone } from '../contract/shapes.ts';
import { openDatabase, type Database } from '../db.ts';
import { settingsOf, type Settings } from '../settings.ts';
import type { User } from '../usage/profile.ts';
import type { Values } from './target.ts';

export type Opened = { user: User; db: Database; settings: Settings };

/** The user of a number in any spelling, with the database that holds the row; ends with a sentence where there is none. */
export async function openUser(values: Values, word: string | undefined): Promise<Opened> {
  if (!v.is(Phone, word)) throw new Error('Name a number with its country code, such as +15551234567.');
  const settings = settingsOf(values);
  if (!settings) throw new Error('The settings are not complete; `npm run doctor` says which.');
  const db = openDatabase(settings, { requests: 0, unreachable: false });
  const [user] = await db
    .select()
    .from(users)
    .where(eq(users.phone, canonicalPhone(word)));
  if (!user) throw new Error('Nobody has this number.');
  return { user, db, settings };
}
