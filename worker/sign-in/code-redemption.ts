import { desc, eq, inArray, sql } from 'drizzle-orm';
import {
  challenges,
  codes,
  linkCodes,
  phoneChanges,
  rateLimitEvents,
  sessions,
  users,
} from '#db/schema';
import { userOf } from '../accounts/identity.ts';
import { phoneSubjects, type PhoneNumber } from '../accounts/phone.ts';
import type { ExportSection } from '../accounts/user-record.ts';
import { openSession, type SessionClaims } from '../accounts/user-session.ts';
import type { AccountStatus } from '../contract/schemas.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { batch } from '../lib/database.ts';
import { memoize } from '../lib/memoize.ts';
import { allowedAt, namesOf, recordEvents, wasRecorded, type Subject } from '../lib/rate-limits.ts';
import { nameOf, prepared, runPrepared, type Prepared } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import { openClaimed, type Claim } from './number-claim.ts';
import { subjectsOf, type SignInCall } from './one-time-code.ts';

type Opened = { userId: string; status: AccountStatus };
type RedeemRow = { limitedUntil: number } & (Opened | { userId: null }) &
  (Claim | { claimedBy: null });

export type Redeemed = {
  /** Unix ms; 0 if no limit was reached. */
  limitedUntil: number;
  opened: { session: SessionClaims; status: AccountStatus } | null;
};

type Attempt = { phone: PhoneNumber; code: string; challenge?: string | undefined };

/** Counts the try before comparing, uses up a correct code and opens the session. A challenge has its own tries. */
export async function redeemCode(
  call: SignInCall,
  { phone, code, challenge }: Attempt,
): Promise<Redeemed> {
  const { db, settings, now } = call;
  const id = crypto.randomUUID();
  const [macs, challengeIds, { wrongTriesAt, address, network }] = await Promise.all([
    keyedHashes(settings.CODE_PEPPER, 'code', phone, code),
    challenge === undefined ? [] : keyedHashes(settings.CODE_PEPPER, 'challenge', phone, challenge),
    subjectsOf(call, phone),
  ]);
  const values = {
    id,
    now,
    phone,
    ...numbered('mac', macs),
    ...numbered('challenge', challengeIds),
    ...numbered('tries', address.triesFrom),
    ...numbered('networkTries', network?.triesFrom ?? []),
    ...numbered('codesFrom', address.codesFrom),
    ...numbered('networkCodesFrom', network?.codesFrom ?? []),
    ...numbered('wrongTries', wrongTriesAt),
  };
  const { codeAlone, withChallenge } =
    redeemStatements(settings)[network ? 'ofNetwork' : 'ofAddress'];
  const results = await runPrepared(
    db,
    challenge === undefined ? codeAlone : withChallenge,
    values,
  );
  const outcome = (results.at(-1) as RedeemRow[])[0]!;
  if (outcome.claimedBy !== null)
    return {
      limitedUntil: 0,
      opened: await openClaimed(call, { phone, sessionId: id, claim: outcome }),
    };
  if (outcome.userId === null) return { limitedUntil: outcome.limitedUntil, opened: null };
  const { userId, status } = outcome;
  return { limitedUntil: 0, opened: { session: { userId, sessionId: id }, status } };
}

/** The values of placeholders that have one for each pepper. */
const numbered = (name: string, values: string[]) =>
  Object.fromEntries(values.map((value, index) => [`${name}${index}`, value]));

const redeemStatements = memoize((settings: Settings) => {
  const of = (hasNetwork: boolean) => ({
    codeAlone: statementsFor(settings, codes, hasNetwork),
    withChallenge: statementsFor(settings, challenges, hasNetwork),
  });
  return { ofAddress: of(false), ofNetwork: of(true) };
});

type Sent = typeof codes | typeof challenges;

function statementsFor(settings: Settings, sent: Sent, hasNetwork: boolean): Prepared[] {
  const [id, now, phone] = [
    sql.placeholder('id'),
    sql.placeholder('now'),
    sql.placeholder('phone'),
  ];
  const eachPepper = (name: string): Subject =>
    settings.CODE_PEPPER.map((_, index) => sql.placeholder(`${name}${index}`));
  const [tries, wrongTries] = [eachPepper('tries'), eachPepper('wrongTries')];
  const limited = [
    { subject: tries, limits: settings.LIMIT_TRIES_PER_ADDRESS },
    ...(hasNetwork
      ? [{ subject: eachPepper('networkTries'), limits: settings.LIMIT_TRIES_PER_NETWORK }]
      : []),
  ];
  const triedBy = limited.map(({ subject }) => subject);
  const mayTry = allowedAt(limited);
  const mayErr = allowedAt([
    { subject: wrongTries, limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER },
  ]);
  const counted = sql`${mayTry} <= ${now}`;
  const alone = sent === codes;
  const own = alone
    ? sql`${sent.phone} = ${phone}`
    : sql`${challenges.id} in ${namesOf(eachPepper('challenge'))} and ${sent.phone} = ${phone}`;
  const live = sql`${own} and ${sent.expiresAt} > ${now} and ${sent.triesLeft} > 0 and ${sent.wonBy} is null`;
  const mine = sql`select 1 from ${sent} where ${own} and ${sent.triedBy} = ${id}`;
  const opened = sql`exists (select 1 from ${sessions} where ${sessions.id} = ${id})`;
  const countedBy = ['codesFrom', ...(hasNetwork ? ['networkCodesFrom'] : [])];
  const codesFrom = countedBy.flatMap(eachPepper).map((name) => sql`(${name})`);
  const changes = [
    sql`update ${sent} set ${nameOf(sent.triesLeft)} = ${sent.triesLeft} - 1, ${nameOf(sent.triedBy)} = ${id},
      ${nameOf(sent.wonBy)} = case when ${sent.mac} in ${namesOf(eachPepper('mac'))} then ${id} end
      where ${live} ${alone ? sql`and ${counted} and ${mayErr} <= ${now}` : sql``}`,
    recordEvents(
      id,
      now,
      alone
        ? [
            [triedBy, counted],
            [[wrongTries], sql`exists (${mine} and ${sent.wonBy} is null)`],
          ]
        : [[triedBy, sql`${counted} and not exists (${mine})`]],
    ),
    ...openSession(
      id,
      now,
      sql`from ${sent} join ${users} on ${users.id} = ${userOf('phone', sql`${sent.phone}`)} where ${own} and ${sent.wonBy} = ${id}`,
      false,
    ),
    ...(alone
      ? []
      : [
          sql`delete from ${rateLimitEvents} where (subject, at, by) in
      (select column1, ${challenges.sentAt}, ${challenges.sentBy} from ${challenges},
        (values ${sql.join(codesFrom, sql`, `)})
        where ${own} and ${challenges.wonBy} = ${id})`,
        ]),
    ...[codes, challenges].map(
      (each) => sql`delete from ${each} where ${each.phone} = ${phone} and ${opened}`,
    ),
  ];
  // A live code that was not tried, by a caller who was counted: the number has had too many wrong tries.
  const limitedUntil = sql`case when ${users.id} is not null or exists (${mine}) then 0
    when not ${wasRecorded(tries, id, now)} then ${mayTry}
    when exists (select 1 from ${sent} where ${live}) then ${mayErr} else 0 end`;
  // A code that was won is still there only if its number has no user: then somebody has claimed the number.
  const outcome = sql`select ${users.id} as userId, ${users.status} as status, ${limitedUntil} as limitedUntil,
      ${linkCodes.claimedBy} as claimedBy, ${linkCodes.whatsappId} as whatsappId
    from (select 1) left join ${sessions} on ${sessions.id} = ${id} left join ${users} on ${users.id} = ${sessions.userId}
      left join ${sent} on ${own} and ${sent.wonBy} = ${id} left join ${linkCodes} on ${linkCodes.sentBy} = ${sent.sentBy}`;
  return [...changes, outcome].map(prepared);
}

export const exportSignIn: ExportSection = async ({ user: { id, phone }, db, settings }) => {
  const { createdAt, lastSeenAt, expiresAt } = sessions;
  const { codesTo, wrongTriesAt, everyCodeTo } = await phoneSubjects(settings, phone);
  const { subject } = rateLimitEvents;
  return batch(db, {
    sessions: db
      .select({ createdAt, lastSeenAt, expiresAt })
      .from(sessions)
      .where(eq(sessions.userId, id))
      .orderBy(desc(createdAt)),
    code: db
      .select({ expiresAt: codes.expiresAt, triesLeft: codes.triesLeft })
      .from(codes)
      .where(eq(codes.phone, phone)),
    codesWithChallenge: db
      .select({
        sentAt: challenges.sentAt,
        expiresAt: challenges.expiresAt,
        triesLeft: challenges.triesLeft,
      })
      .from(challenges)
      .where(eq(challenges.phone, phone)),
    phoneChanges: db
      .select({
        phone: phoneChanges.phone,
        expiresAt: phoneChanges.expiresAt,
        triesLeft: phoneChanges.triesLeft,
      })
      .from(phoneChanges)
      .where(eq(phoneChanges.userId, id)),
    limits: db
      .select({
        what: sql<string>`substr(${subject}, 1, instr(${subject}, ':') - 1)`,
        at: rateLimitEvents.at,
      })
      .from(rateLimitEvents)
      .where(inArray(subject, [...codesTo, ...wrongTriesAt])),
    codesOfTheDay: db
      .select({ at: rateLimitEvents.at })
      .from(rateLimitEvents)
      .where(inArray(subject, everyCodeTo)),
  });
};
