import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { trialLinks, usedTrials, users } from '#db/schema';
import { applyOnce, idempotentStatements, isFirstCall } from '../../bot/idempotent-call.ts';
import { insertSelect } from '../../lib/insert-select.ts';
import { keyedHash, keyedHashes } from '../../lib/keyed-hash.ts';
import type { Handler } from '../../http/handler.ts';
import { RequestError } from '../../lib/request-error.ts';
import { dayMs } from '../../lib/time.ts';

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
  const statements = idempotentStatements(facts, [link]);
  const granted = await applyOnce<{ spent: number; expiresAt: number }>(context, statements);
  if (!granted) throw new RequestError('notFound', { message: 'This number has not written to the assistant' });
  if (granted.spent) throw new RequestError('conflict', { message: 'This number has already had its trial.' });
  const url = `${settings.SITE_URL}/activate-trial?token=${token}`;
  return { success: true, url, expiresAt: new Date(granted.expiresAt).toISOString() };
};
