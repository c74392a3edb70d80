import { sql } from 'drizzle-orm';
import { codes, sessions, users } from '#db/schema';
import type { AccountStatus } from '../contract/schemas.ts';
import { memoize } from '../lib/memoize.ts';
import { build, prepared, runPrepared } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import { networkOf } from '../lib/caller.ts';
import type { PhoneNumber } from '../accounts/phone.ts';
import { subjects, type SignInCall } from './issue-code.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { allowedAt, recordEvents, wasRecorded } from '../lib/rate-limits.ts';
import { type SessionClaims, openSession } from '../accounts/user-session.ts';

type Opened = { userId: string; status: AccountStatus };
type Outcome = (Opened & { limitedUntil: 0 }) | { userId: null; limitedUntil: number };

export type Redeemed = {
  /** Unix ms; 0 if no limit was reached. */
  limitedUntil: number;
  opened: { session: SessionClaims; status: AccountStatus } | null;
};

/** Counts the attempt before comparing, invalidates a correct code, and opens the session: one round trip. */
export async function redeemCode(
  { db, settings, address, now }: SignInCall,
  phone: PhoneNumber,
  code: string,
): Promise<Redeemed> {
  const id = crypto.randomUUID();
  const macs = await keyedHashes(settings.CODE_PEPPER, 'code', phone, code);
  const network = networkOf(address);
  const values = {
    id,
    now,
    phone,
    ...Object.fromEntries(macs.entries()),
    tries: subjects.triesFrom(address),
    networkTries: network && subjects.triesFrom(network),
    wrongTries: subjects.wrongTriesAt(phone),
  };
  const results = await runPrepared(db, statementsFor(settings), values);
  const outcome = (results.at(-1) as Outcome[])[0]!;
  if (outcome.userId === null) return { limitedUntil: outcome.limitedUntil, opened: null };
  const { userId, status } = outcome;
  return { limitedUntil: 0, opened: { session: { userId, sessionId: id }, status } };
}

const statementsFor = memoize((settings: Settings) => {
  const [id, now, phone] = [sql.placeholder('id'), sql.placeholder('now'), sql.placeholder('phone')];
  const [tries, networkTries] = [sql.placeholder('tries'), sql.placeholder('networkTries')];
  const wrongTries = sql.placeholder('wrongTries');
  const macs = sql.join(
    settings.CODE_PEPPER.map((_, index) => sql.placeholder(String(index))),
    sql`, `,
  );
  const mayTry = allowedAt([
    { subject: tries, limits: settings.LIMIT_TRIES_PER_ADDRESS },
    { subject: networkTries, limits: settings.LIMIT_TRIES_PER_NETWORK },
  ]);
  const mayErr = allowedAt([{ subject: wrongTries, limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER }]);
  const counted = sql`${mayTry} <= ${now}`;
  const own = sql`${codes.phone} = ${phone}`;
  const live = sql`${own} and ${codes.expiresAt} > ${now} and ${codes.triesLeft} > 0 and ${codes.wonBy} is null`;
  const mine = sql`select 1 from ${codes} where ${own} and ${codes.triedBy} = ${id}`;
  const changes = [
    build
      .update(codes)
      .set({
        triesLeft: sql`${codes.triesLeft} - 1`,
        triedBy: sql`${id}`,
        wonBy: sql`case when ${codes.mac} in (${macs}) then ${id} end`,
      })
      .where(sql`${live} and ${counted} and ${mayErr} <= ${now}`)
      .getSQL(),
    recordEvents(id, now, [
      [[tries, networkTries], counted],
      [[wrongTries], sql`exists (${mine} and ${codes.wonBy} is null)`],
    ]),
    ...openSession(
      id,
      now,
      sql`from ${codes} join ${users} on ${users.phone} = ${codes.phone} where ${own} and ${codes.wonBy} = ${id}`,
    ),
  ];
  // A live code that was not tried, by a caller who was counted: the number has had too many wrong tries.
  const limitedUntil = sql`case when ${users.id} is not null then 0
    when not ${wasRecorded(tries, id, now)} then ${mayTry}
    when exists (select 1 from ${codes} where ${live}) and not exists (${mine}) then ${mayErr} else 0 end`;
  const outcome = sql`select ${users.id} as userId, ${users.status} as status, ${limitedUntil} as limitedUntil
    from (select 1) left join ${sessions} on ${sessions.id} = ${id} left join ${users} on ${users.id} = ${sessions.userId}`;
  return [...changes, outcome].map(prepared);
});
