import { sql } from 'drizzle-orm';
import type { AccountStatus } from '../contract/shapes.ts';
import { oncePer } from '../once-per.ts';
import { prepared, runPrepared } from '../prepared.ts';
import type { Settings } from '../settings.ts';
import { subjects, type SignInCall } from './issue-code.ts';
import { keyedHashes } from './keyed-hash.ts';
import { freeAt, recordHits, wasRecorded } from './limits.ts';
import type { SessionClaims } from './session-token.ts';
import { openSession } from './session.ts';

type Success = { userId: string; status: AccountStatus };
/** Why there is no session. */
type Refusal = { counted: number; tried: number; tryAt: number; wrongAt: number; live: number };
type Outcome = (Success & { refusal: null }) | { userId: null; refusal: string };

export type Redeemed = {
  /** Unix ms; 0 when no limit was met. */
  limitedUntil: number;
  opened: { session: SessionClaims; status: AccountStatus } | null;
};

/** Counts the try before it compares, uses the code up when it is right, and opens the session: one round trip. */
export async function redeemCode(
  { db, settings, address, now }: SignInCall,
  phone: string,
  code: string,
): Promise<Redeemed> {
  const id = crypto.randomUUID();
  const macs = await keyedHashes(settings.CODE_PEPPER, 'code', phone, code);
  const tries = subjects.triesFrom(address);
  const wrongTries = subjects.wrongTriesAt(phone);
  const values = { id, now, phone, tries, wrongTries, ...Object.fromEntries(macs.entries()) };
  const results = await runPrepared(db, statementsFor(settings), values);
  return verdict((results.at(-1) as Outcome[])[0]!, id, now);
}

const statementsFor = oncePer((settings: Settings) => {
  const [id, now, phone] = [sql.placeholder('id'), sql.placeholder('now'), sql.placeholder('phone')];
  const [tries, wrongTries] = [sql.placeholder('tries'), sql.placeholder('wrongTries')];
  const macs = sql.join(
    settings.CODE_PEPPER.map((_, index) => sql.placeholder(String(index))),
    sql`, `,
  );
  const mayTry = freeAt(tries, settings.LIMIT_TRIES_PER_ADDRESS);
  const mayErr = freeAt(wrongTries, settings.LIMIT_WRONG_TRIES_PER_NUMBER);
  const counted = sql`${mayTry} <= ${now}`;
  const live = sql`phone = ${phone} and expires_at > ${now} and tries_left > 0 and won_by is null`;
  const mine = sql`select 1 from codes where phone = ${phone} and tried_by = ${id}`;
  const changes = [
    sql`update codes set tries_left = tries_left - 1, tried_by = ${id},
      won_by = case when mac in (${macs}) then ${id} end
      where ${live} and ${counted} and ${mayErr} <= ${now}`,
    recordHits(id, now, [
      [tries, counted],
      [wrongTries, sql`exists (${mine} and won_by is null)`],
    ]),
    openSession(
      id,
      now,
      sql`from codes c join users u on u.phone = c.phone where c.phone = ${phone} and c.won_by = ${id}`,
    ),
  ];
  const refusal = sql`json_object('counted', ${wasRecorded(tries, id, now)}, 'tried', exists (${mine}),
    'tryAt', ${mayTry}, 'wrongAt', ${mayErr}, 'live', exists (select 1 from codes where ${live}))`;
  const outcome = sql`select u.id as userId, u.status as status, case when u.id is null then ${refusal} end as refusal
    from (select 1) left join sessions s on s.id = ${id} left join users u on u.id = s.user_id`;
  return [...changes, outcome].map(prepared);
});

function verdict(outcome: Outcome, sessionId: string, now: number): Redeemed {
  if (outcome.userId !== null) {
    const { userId, status } = outcome;
    return { limitedUntil: 0, opened: { session: { userId, sessionId }, status } };
  }
  const { counted, tried, tryAt, wrongAt, live } = JSON.parse(outcome.refusal) as Refusal;
  if (!counted) return { limitedUntil: tryAt, opened: null };
  return { limitedUntil: live && !tried && wrongAt > now ? wrongAt : 0, opened: null };
}
