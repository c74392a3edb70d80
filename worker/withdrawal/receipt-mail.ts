import { and, asc, eq, inArray, lte, sql, type SQL } from 'drizzle-orm';
import { receiptMails, withdrawals } from '#db/schema';
import { retryPause } from '../bot/delivery-rules.ts';
import type { Database } from '../lib/database.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { rowExists } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import { hashedSubject, type Limited } from '../lib/rate-limits.ts';
import { dayMs, hourMs } from '../lib/time.ts';
import type { Transaction } from '../lib/transaction.ts';
import { mailService, sendMail, type MailResult } from '../messaging/mail.ts';
import type { Settings } from '../settings.ts';
import { receiptMailOf } from './receipt.ts';

/*
 * The receipt of a statement by e-mail. A row of `receipt_mails` is a mail that is not sent yet: a statement has at most
 * one, a lease keeps two runs from sending it, and it is gone when the service has taken it, refuses it, or after a day.
 */

type Context = { db: Database; settings: Settings };

/** Whoever states without signing in can name any address: mails for all of them together, in a day. */
const budget = { subject: ['receipt-mails'], limits: [{ most: 300, per: dayMs }] };
const perRecipient = [{ most: 3, per: dayMs }];
const perAddress = [
  { most: 5, per: hourMs },
  { most: 10, per: dayMs },
];

/** Letters of either case and a `+tag` lead to the same inbox. */
const inboxOf = (email: string) => email.toLowerCase().replace(/\+[^@]*(?=@)/, '');

/** Whether receipts go to an address: one was given, and mails are set up. */
export function mailsTo(settings: Settings, email: string | null): email is string {
  return email !== null && mailService(settings) !== null;
}

/** Queues the receipt of a statement, if the statement was kept. */
export function queueReceipt<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: readonly [Outcome, ...Outcome[]],
  { id, now, where }: { id: string; now: number; where?: SQL },
): void {
  const row = { id, createdAt: now, dueAt: now };
  const isKept = rowExists(withdrawals, eq(withdrawals.id, id));
  tx.insert(on, receiptMails, row, { where: and(isKept, where)! });
}

/**
 * What limits the receipts that strangers cause: by network address,
 * by recipient, and for all together. Empty where none is sent.
 */
export async function strangersMails(
  settings: Settings,
  { address, email }: { address: string; email: string | null },
): Promise<Limited[]> {
  if (!mailsTo(settings, email)) return [];

  const hashes = (text: string) => keyedHashes(settings.CODE_PEPPER, 'limit', text);
  const [from, to] = await Promise.all([hashes(address), hashes(inboxOf(email))]);
  return [
    budget,
    { subject: hashedSubject('receipt-from', from), limits: perAddress },
    { subject: hashedSubject('receipt-to', to), limits: perRecipient },
  ];
}

type Queued = { id: string; createdAt: number; attempts: number };

/** The platform lets a request hold six connections, and the database takes one. */
const atOnce = 5;
const stepsPerRun = 10;
const leaseMs = 60_000;
/** Services recognise a mail that is sent again for a day. */
const lifetimeMs = dayMs;

/** Sends the receipts that are due: all of them, or the one of a statement. */
export async function mailReceipts(context: Context, only?: string): Promise<void> {
  for (let step = 0; step < stepsPerRun; step += 1) {
    const mails = await lease(context.db, Date.now(), only);
    await Promise.all(mails.map((mail) => deliver(context, mail)));
    if (mails.length < atOnce) return;
  }
}

function lease(db: Database, now: number, only: string | undefined): Promise<Queued[]> {
  const { id, createdAt, attempts } = receiptMails;
  const named = only === undefined ? undefined : eq(id, only);
  const due = db
    .select({ id })
    .from(receiptMails)
    .where(and(lte(receiptMails.dueAt, now), named))
    .orderBy(asc(receiptMails.dueAt))
    .limit(atOnce);
  return db
    .update(receiptMails)
    .set({ dueAt: now + leaseMs, attempts: sql`${attempts} + 1` })
    .where(inArray(id, due))
    .returning({ id, createdAt, attempts });
}

async function deliver(context: Context, mail: Queued): Promise<void> {
  const result = await send(context, mail);
  const own = eq(receiptMails.id, mail.id);
  if (isOver(mail, result)) await context.db.delete(receiptMails).where(own);
  else {
    const dueAt = Date.now() + retryPause(mail.attempts);
    await context.db.update(receiptMails).set({ dueAt }).where(own);
  }
}

async function send({ db, settings }: Context, { id }: Queued): Promise<MailResult> {
  const service = mailService(settings);
  const [statement] = await db.select().from(withdrawals).where(eq(withdrawals.id, id));
  if (!service || !statement?.email) return { sent: false, status: 0, fault: 'passing' };

  const mail = await receiptMailOf(settings, statement);
  return sendMail(service, { id: `receipt-${id}`, to: statement.email, ...mail });
}

/** Whether nothing more is tried; says so in the log, without the address. */
function isOver({ id, createdAt }: Queued, result: MailResult): boolean {
  if (result.sent) return true;

  const { status, fault } = result;
  if (fault === 'ours') log('error', 'mail_refused', { status, action: checkKey });
  // A stranger may give an address that nobody has: no alarm for that.
  if (fault === 'theirs') log('info', 'receipt_refused', { id, status });
  const isTooOld = createdAt + lifetimeMs <= Date.now();
  if (isTooOld) log('error', 'receipt_not_mailed', { id, status, action: sendIt });
  return fault === 'theirs' || isTooOld;
}

const checkKey = 'Check MAIL_API_KEY and MAIL_FROM: run `npm run doctor`.';
const sendIt = 'Send the receipt by hand: `npm run support -- withdrawals` lists the statements.';
