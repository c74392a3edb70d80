import { sql } from 'drizzle-orm';
import { botStatements, won } from '../auth/bot-call.ts';
import { canonicalPhone } from '../auth/canonical-phone.ts';
import { keyedHash, keyedHashes } from '../auth/keyed-hash.ts';
import type { Handler } from '../http/call.ts';
import { Problem } from '../problem.ts';

const linkLifetimeMs = 7 * 86_400_000;

/** The token follows from the call's id, so that the same call again answers the same link without storing it. */
export const botTrials: Handler<'botTrials'> = async ({ input, botCall, db, settings, now }) => {
  const phone = canonicalPhone(input.phone);
  const [pepper] = settings.CODE_PEPPER as [string];
  const token = await keyedHash(pepper, 'trial-link', botCall.id);
  const mac = await keyedHash(pepper, 'trial', token);
  const phoneMacs = await keyedHashes(settings.CODE_PEPPER, 'phone', phone);
  const spent = sql`exists (select 1 from spent_trials where phone_mac in ${phoneMacs})`;
  const facts = sql`select json_object('spent', ${spent}, 'expiresAt', ${now + linkLifetimeMs}) as answer
    from users where phone = ${phone} and contacted_at is not null`;
  const link = sql`insert into trial_links (mac, user_id, phone_mac, tier, days, expires_at)
      select ${mac}, id, ${phoneMacs[0]}, ${input.tier}, ${input.days}, ${now + linkLifetimeMs}
      from users where phone = ${phone} and ${won} and not ${spent}`;
  const statements = botStatements(facts, [link]);
  const granted = await botCall.once<{ spent: number; expiresAt: number }>(db, now, statements);
  if (!granted) throw new Problem('notFound', { message: 'This number has not written to the assistant' });
  if (granted.spent) throw new Problem('conflict', { message: 'This number has already had its trial.' });
  const url = `${settings.SITE_URL}/activate-trial?token=${token}`;
  return { success: true, url, expiresAt: new Date(granted.expiresAt).toISOString() };
};
