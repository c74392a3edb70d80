import { and, eq, gt, isNotNull, sql, type SQL } from 'drizzle-orm';
import { codes, dailyCodes, rateLimitEvents, users } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { excluded, insertSelect, nameOf } from '../lib/sql.ts';
import { keyedHash } from '../lib/crypto.ts';
import { type Limit, allowedAt, recordEvents, wasRecorded, type Limited } from '../lib/rate-limits.ts';
import type { Settings } from '../settings.ts';
import { phoneSubjects, type PhoneNumber } from '../accounts/phone.ts';
import { codeDay, provenForMs, reportCodeBudget } from './code-budget.ts';
import { networkOf } from '../lib/caller.ts';

type Outcome = {
  asked: number;
  known: number;
  whatsappId: string | null;
  issued: number;
  askAt: number;
  allowedAt: number;
  sent: number;
};

/** The facts of a sign-in request; `now` in unix ms. */
export type SignInCall = { db: Database; settings: Settings; address: string; now: number };

export type Issued = {
  id: string;
  /** Unix ms; 0 if no limit was reached. */
  limitedUntil: number;
  /** Today's budget is spent, and the number has not written recently. */
  budgetSpent: boolean;
  /** Where to send the code; null when the number has never written. */
  whatsappId: string | null;
  /** The wait for the number's next code. */
  nextAfterSeconds: number;
};

/** Subjects of the rate limits on codes; an address may also be an IPv6 network. */
export const subjects = {
  codesTo: (phone: PhoneNumber) => `${phoneSubjects.codesTo}${phone}`,
  wrongTriesAt: (phone: PhoneNumber) => `${phoneSubjects.wrongTriesAt}${phone}`,
  codesFrom: (address: string) => `codes-from:${address}`,
  requestsFrom: (address: string) => `requests-from:${address}`,
  triesFrom: (address: string) => `tries-from:${address}`,
};

/** Makes `code` the number's only live code if limits and a first contact allow it: one round trip. */
export async function issueCode(call: SignInCall, phone: PhoneNumber, code: string): Promise<Issued> {
  const { db, settings, now } = call;
  const id = crypto.randomUUID();
  const limits = limitsOf(call, phone);
  const mayAsk = allowedAt(limits.requests);
  const maySend = allowedAt([...limits.codes, ...limits.wrongTries]);
  const asked = sql`${mayAsk} <= ${now}`;
  const known = exists(users, and(eq(users.phone, phone), isNotNull(users.contactedAt)));
  const issued = exists(codes, and(eq(codes.phone, phone), eq(codes.sentBy, id)));
  const sent = sql`coalesce((select ${dailyCodes.sent} from ${dailyCodes} where ${dailyCodes.day} = ${codeDay(now)}), 0)`;
  const proven = exists(users, and(eq(users.phone, phone), gt(users.lastContactAt, now - provenForMs)));
  const affordable = sql`(${sent} < ${settings.CODE_BUDGET_PER_DAY} or ${proven})`;
  const row = {
    phone,
    mac: await keyedHash(settings.CODE_PEPPER[0]!, 'code', phone, code),
    sentBy: id,
    expiresAt: now + settings.CODE_LIFETIME_SECONDS * 1000,
    triesLeft: settings.CODE_TRIES,
  };
  const mayIssue = sql`where ${asked} and ${known} and ${maySend} <= ${now} and ${affordable}`;
  const results = await db.batch([
    db.run(sql`${insertSelect(codes, row, mayIssue)} on conflict (${nameOf(codes.phone)}) do update set
      ${replaced([codes.mac, codes.sentBy, codes.expiresAt, codes.triesLeft])},
      ${nameOf(codes.triedBy)} = null, ${nameOf(codes.wonBy)} = null`),
    db.run(
      recordEvents(id, now, [
        [limits.requests.map(({ subject }) => subject), asked],
        [limits.codes.map(({ subject }) => subject), issued],
      ]),
    ),
    db.run(sql`${insertSelect(dailyCodes, { day: codeDay(now), sent: 1 }, sql`where ${issued}`)}
      on conflict (${nameOf(dailyCodes.day)}) do update set ${nameOf(dailyCodes.sent)} = ${dailyCodes.sent} + 1`),
    db.all<Outcome>(sql`select ${wasRecorded(limits.requests[0]!.subject, id, now)} as asked, ${known} as known,
      ${issued} as issued, ${mayAsk} as askAt, ${maySend} as allowedAt, ${sent} as sent,
      (select ${users.whatsappId} from ${users} where ${eq(users.phone, phone)}) as whatsappId`),
  ]);
  const outcome = results[3][0]!;
  if (outcome.issued) reportCodeBudget(outcome.sent, settings.CODE_BUDGET_PER_DAY);
  return { id, nextAfterSeconds: Math.ceil((outcome.allowedAt - now) / 1000), ...resultOf(outcome, now) };
}

/** Deletes a code that was certainly not sent, and its rate-limit events. */
export async function withdrawCode(call: SignInCall, phone: PhoneNumber, id: string): Promise<void> {
  const { db, now } = call;
  const counted = limitsOf(call, phone).codes.map(({ subject }) => sql`${subject}`);
  const own = and(eq(codes.phone, phone), eq(codes.sentBy, id));
  await db.batch([
    db
      .update(dailyCodes)
      .set({ sent: sql`${dailyCodes.sent} - 1` })
      .where(and(eq(dailyCodes.day, codeDay(now)), exists(codes, own))),
    db.delete(codes).where(own),
    db
      .delete(rateLimitEvents)
      .where(
        and(
          sql`${rateLimitEvents.subject} in (${sql.join(counted, sql`, `)})`,
          eq(rateLimitEvents.at, now),
          eq(rateLimitEvents.by, id),
        ),
      ),
  ]);
}

/** The rate-limit subjects of a code, with their limits. */
function limitsOf({ settings, address }: SignInCall, phone: PhoneNumber) {
  const network = networkOf(address);
  const per = (subjectOf: (address: string) => string, byAddress: Limit[], byNetwork: Limit[]): Limited[] => [
    { subject: subjectOf(address), limits: byAddress },
    ...(network ? [{ subject: subjectOf(network), limits: byNetwork }] : []),
  ];
  return {
    requests: per(
      subjects.requestsFrom,
      settings.LIMIT_CODE_REQUESTS_PER_ADDRESS,
      settings.LIMIT_CODE_REQUESTS_PER_NETWORK,
    ),
    codes: [
      { subject: subjects.codesTo(phone), limits: settings.LIMIT_CODES_PER_NUMBER },
      ...per(subjects.codesFrom, settings.LIMIT_CODES_PER_ADDRESS, settings.LIMIT_CODES_PER_NETWORK),
    ],
    wrongTries: [{ subject: subjects.wrongTriesAt(phone), limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER }],
  };
}

function exists(table: typeof codes | typeof users, where: SQL | undefined): SQL {
  return sql`exists (select 1 from ${table} where ${where})`;
}

function replaced(columns: Parameters<typeof nameOf>[0][]): SQL {
  return sql.join(
    columns.map((column) => sql`${nameOf(column)} = ${excluded(column)}`),
    sql`, `,
  );
}

function resultOf(outcome: Outcome, now: number): Pick<Issued, 'limitedUntil' | 'budgetSpent' | 'whatsappId'> {
  const none = { limitedUntil: 0, budgetSpent: false, whatsappId: null };
  if (!outcome.asked) return { ...none, limitedUntil: outcome.askAt };
  if (!outcome.known) return none;
  if (outcome.issued) return { ...none, whatsappId: outcome.whatsappId };
  return outcome.allowedAt > now ? { ...none, limitedUntil: outcome.allowedAt } : { ...none, budgetSpent: true };
}
