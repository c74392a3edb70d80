import {
  and,
  asc,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  lte,
  ne,
  not,
  notExists,
  sql,
  type SQL,
  type SQLWrapper,
} from 'drizzle-orm';
import { receiptMails, withdrawals, type Withdrawal } from '#db/schema';
import { retryPause } from '../bot/delivery-rules.ts';
import type { Database } from '../lib/database.ts';
import { networkOf } from '../lib/caller.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { coalesce, greatest, iif, plus, rowExists, valueOf } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import type { Limit } from '../lib/rate-limits.ts';
import { openJson, sealJson } from '../lib/sealed-json.ts';
import { build } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';
import type { Transaction } from '../lib/transaction.ts';
import { mailService, sendMail, type MailResult } from '../messaging/mail.ts';
import type { Settings } from '../settings.ts';
import { receiptLinkMs, receiptMailOf } from './receipt.ts';

/*
 * The receipt of a statement by e-mail. It goes to the address that came with the very call which has made, repeated or
 * confirmed the statement: a stranger's mail says nothing of the account, a person's goes to nobody but themselves.
 * No mail is dropped. One above a limit waits, and the response says until when.
 */

type Place = { db: Database; settings: Settings };
type On<Outcome> = readonly [Outcome, ...Outcome[]];
type Row = typeof receiptMails.$inferSelect;

/** Whoever states without signing in can name any address: what is more goes together, in the next mail. */
const ofInbox = { most: 3, per: dayMs };
/**
 * So many mails a day of one network are few. They have a budget of their own, which a network that states more
 * often does not use up: thirty addresses delay themselves alone.
 */
const fewOfNetwork = { most: 3, per: dayMs };
const budgets = { few: { most: 3000, per: dayMs }, many: { most: 300, per: dayMs } };
/** A person may give so many addresses for one statement. */
const inboxesOfPerson = 10;

/** Services recognise a mail that is sent again for a day. */
const lifetimeMs = dayMs;
const { statementId, inbox, isOwn, sealed, network, budget, sendAt, attempts, dueAt } =
  receiptMails;

/** Letters of either case and a `+tag` lead to the same inbox. */
const inboxOf = (email: string) => email.toLowerCase().replace(/\+[^@]*(?=@)/, '');

/** Whether receipts go to an address: one was given, and mails are set up. */
function mailsTo(settings: Settings, email: string | null): email is string {
  return email !== null && mailService(settings) !== null;
}

const sealingOf = (row: Pick<Row, 'statementId' | 'isOwn'>) => ({
  purpose: 'receipt-mail' as const,
  context: `receipt-mail|v1|${row.statementId}|${row.isOwn ? 'person' : 'stranger'}`,
});

/** The mails of a network, or to an inbox, that a limit counts, and when (unix ms) it allows the next one. */
function nextAt(which: SQL, { most, per }: Limit): SQL<number> {
  const nth = build
    .select({ at: sendAt })
    .from(receiptMails)
    .where(and(which, isNotNull(budget)))
    .orderBy(desc(sendAt))
    .limit(1)
    .offset(most - 1);
  return coalesce<number>(plus(nth, per), 0);
}

/** What queues a mail, and what finds it afterwards. */
export type NewMail = {
  queue: <Outcome extends string>(tx: Transaction<Outcome, unknown>, on: On<Outcome>) => void;
  own: SQL;
};

type Stated = { id: string; email: string | null; now: number };

/**
 * The mail that a stranger's statement brings; null where none is sent. It goes with one that waits for the same
 * inbox, or as soon as the limits allow.
 */
export async function strangersMail(
  settings: Settings,
  { id, email, now, address }: Stated & { address: string },
): Promise<NewMail | null> {
  if (!mailsTo(settings, email)) return null;

  const [inboxes, networks] = await Promise.all([
    keyedHashes(settings.CODE_PEPPER, 'receipt-mail', inboxOf(email)),
    keyedHashes(settings.CODE_PEPPER, 'limit', networkOf(address) ?? address),
  ]);
  const isTheirs = inArray(inbox, inboxes);
  const waits = and(isTheirs, isNotNull(dueAt), eq(attempts, 0), gt(sendAt, now));
  const isFew = lte(nextAt(inArray(network, networks), fewOfNetwork), now);
  const budgetAt = iif(
    isFew,
    nextAt(eq(budget, 'few'), budgets.few),
    nextAt(eq(budget, 'many'), budgets.many),
  );
  const plan = build
    .select({
      waitsAt: valueOf(sendAt, waits).as('waits_at'),
      inbox: coalesce<string>(valueOf(inbox, waits), inboxes[0]).as('inbox'),
      sendAt: coalesce<number>(
        valueOf(sendAt, waits),
        greatest(now, nextAt(isTheirs, ofInbox), budgetAt),
      ).as('send_at'),
      budget: iif<'few' | 'many'>(isFew, 'few', 'many').as('budget'),
    })
    .from(sql`(select 1)`)
    .as('plan');
  const unlessJoined = <T>(value: SQLWrapper) => iif<T>(isNotNull(plan.waitsAt), null, value);
  const stranger = { statementId: id, isOwn: false };
  const row = {
    ...stranger,
    sealed: await sealJson(settings.CODE_PEPPER, sealingOf(stranger), email),
    network: networks[0]!,
    inbox: sql<string>`${plan.inbox}`,
    budget: unlessJoined<'few' | 'many'>(plan.budget),
    sendAt: sql<number>`${plan.sendAt}`,
    dueAt: unlessJoined<number>(plan.sendAt),
    keptUntil: plus(plan.sendAt, 2 * lifetimeMs),
  };
  return {
    queue: (tx, on) => tx.insert(on, receiptMails, row, { from: plan }),
    own: and(eq(statementId, id), isTheirs)!,
  };
}

/** The mail to an address that a signed-in person has given, once for each; null where none is sent. */
export async function personsMail(
  settings: Settings,
  { id, email, now }: Stated,
): Promise<NewMail | null> {
  if (!mailsTo(settings, email)) return null;

  const inboxes = await keyedHashes(settings.CODE_PEPPER, 'receipt-mail', id, inboxOf(email));
  const ofStatement = eq(statementId, id);
  const own = and(ofStatement, inArray(inbox, inboxes))!;
  const last = build
    .select({ inbox })
    .from(receiptMails)
    .where(and(ofStatement, eq(isOwn, true)))
    .limit(1)
    .offset(inboxesOfPerson - 1);
  const person = { statementId: id, isOwn: true };
  const row = {
    ...person,
    sealed: await sealJson(settings.CODE_PEPPER, sealingOf(person), email),
    inbox: inboxes[0]!,
    sendAt: now,
    dueAt: now,
    keptUntil: now + receiptLinkMs,
  };
  const where = and(not(rowExists(receiptMails, own)), notExists(last));
  return { queue: (tx, on) => tx.insert(on, receiptMails, row, { where }), own };
}

export type QueuedMail = Pick<Row, 'inbox' | 'isOwn' | 'budget' | 'sendAt'>;

/** Reads a mail that was queued. */
export const queuedMail = (db: Database, mail: NewMail | null) =>
  db
    .select({ inbox, isOwn, budget, sendAt })
    .from(receiptMails)
    .where(mail?.own ?? eq(statementId, ''));

/**
 * Whether a limit keeps a mail: none keeps a person's
 * own, which a parallel call may have queued later.
 */
export const isDelayed = (mail: QueuedMail, now: number): boolean =>
  !mail.isOwn && mail.sendAt > now;

/** Tells the owner that strangers' mails wait for a budget of the day. */
export function reportWaiting(mail: QueuedMail | undefined, now: number): void {
  if (!mail?.budget || mail.sendAt <= now) return;
  const until = new Date(mail.sendAt).toISOString();
  log('error', 'receipt_mail_waits', { budget: mail.budget, until, action: lookForFlood });
}

/** The platform lets a request hold six connections, and the database takes one. */
const atOnce = 5;
const stepsPerRun = 10;
const leaseMs = 60_000;

/** Sends the receipts that are due: all of them, or those of an inbox. */
export async function mailReceipts(place: Place, only?: string): Promise<void> {
  for (let step = 0; step < stepsPerRun; step += 1) {
    const mails = await lease(place.db, Date.now(), only);
    await Promise.all(mails.map((mail) => deliver(place, mail)));
    if (mails.length < atOnce) return;
  }
}

type Leased = Pick<Row, 'inbox' | 'isOwn' | 'sendAt' | 'attempts'>;

function lease(db: Database, now: number, only: string | undefined): Promise<Leased[]> {
  const rowid = sql<number>`rowid`;
  const due = db
    .select({ rowid })
    .from(receiptMails)
    .where(and(lte(dueAt, now), only === undefined ? undefined : eq(inbox, only)))
    .orderBy(asc(dueAt))
    .limit(atOnce);
  return db
    .update(receiptMails)
    .set({ dueAt: now + leaseMs, attempts: plus(attempts, 1) })
    .where(inArray(rowid, due))
    .returning({ inbox, isOwn, sendAt, attempts });
}

async function deliver(place: Place, mail: Leased): Promise<void> {
  const { db, settings } = place;
  const own = and(eq(inbox, mail.inbox), eq(sendAt, mail.sendAt));
  const rows = await db
    .select({ mail: receiptMails, statement: withdrawals })
    .from(receiptMails)
    .innerJoin(withdrawals, eq(withdrawals.id, statementId))
    .where(own)
    .orderBy(asc(withdrawals.seq));
  const { email, statements } = await addressed(settings, rows);
  const result = email === null ? none : await send(settings, { mail, email, statements });

  const end = endOf(mail, result, statements);
  const retryAt = Date.now() + retryPause(mail.attempts);
  if (end === 'retry')
    await db
      .update(receiptMails)
      .set({ dueAt: retryAt })
      .where(and(own, isNotNull(dueAt)));
  // The owner sends by hand what nobody could send: `support` opens the address.
  else
    await db
      .update(receiptMails)
      .set({ dueAt: null, ...(end === 'over' && { sealed: '' }) })
      .where(own);
}

const none: MailResult = { sent: false, status: 0, fault: 'theirs' };

type Found = { mail: Row; statement: Withdrawal };

/** The address of a mail, and the statements that were made with it: a row that was written for another is no part. */
async function addressed(settings: Settings, rows: Found[]) {
  const opened = await Promise.all(rows.map(({ mail }) => addressOf(settings, mail)));
  const email = opened.find((each) => each !== null) ?? null;
  const isPart = (each: string | null) =>
    each !== null && email !== null && inboxOf(each) === inboxOf(email);
  const statements = rows
    .filter((_, index) => isPart(opened[index]!))
    .map(({ statement }) => statement);
  if (statements.length < rows.length) log('error', 'row_not_bound', { table: 'receipt_mails' });
  return { email, statements };
}

const addressOf = ({ CODE_PEPPER }: Settings, row: Row): Promise<string | null> =>
  openJson<string>(CODE_PEPPER, sealingOf(row), row.sealed);

type Addressed = { mail: Leased; email: string; statements: Withdrawal[] };

async function send(
  settings: Settings,
  { mail, email, statements }: Addressed,
): Promise<MailResult> {
  const service = mailService(settings);
  if (!service) return { sent: false, status: 0, fault: 'passing' };

  const text = await receiptMailOf(settings, statements, mail.isOwn);
  return sendMail(service, { id: `receipt-${mail.inbox}-${mail.sendAt}`, to: email, ...text });
}

/** What becomes of a mail; says so in the log, without the address. */
function endOf(mail: Leased, result: MailResult, statements: Withdrawal[]) {
  if (result.sent) return 'over';

  const { status, fault } = result;
  const isTooOld = mail.sendAt + lifetimeMs <= Date.now();
  if (fault === 'ours') log('error', 'mail_refused', { status, action: checkKey });
  for (const { id } of statements) {
    // A stranger may give an address that nobody has: no alarm for that.
    if (fault === 'theirs') log('info', 'receipt_refused', { id, status });
    else if (isTooOld) log('error', 'receipt_not_mailed', { id, status, action: sendIt });
  }
  if (fault === 'theirs') return 'over';
  return isTooOld ? 'unsent' : 'retry';
}

/** The addresses to which the receipt of a statement was not sent yet. */
export async function unsentTo({ db, settings }: Place, id: string): Promise<string[]> {
  const rows = await db
    .select()
    .from(receiptMails)
    .where(and(eq(statementId, id), ne(sealed, '')));
  const opened = await Promise.all(rows.map((row) => addressOf(settings, row)));
  return opened.filter((each) => each !== null);
}

const checkKey = 'Check MAIL_API_KEY and MAIL_FROM: run `npm run doctor`.';
const sendIt = 'Send the receipt by hand: `npm run support -- withdrawals` lists the statements.';
const lookForFlood = 'See whether somebody floods the form: `npm run support -- withdrawals`.';
