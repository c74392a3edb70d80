import { and, asc, eq, inArray, isNotNull, lte } from 'drizzle-orm';
import { receiptMails, type Withdrawal, withdrawals } from '#db/schema';
import { retryPause } from '../bot/delivery-rules.ts';
import type { Database } from '../lib/database.ts';
import { plus } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import { sql } from '../lib/sql-text.ts';
import { type MailResult, mailService, sendMail } from '../messaging/mail.ts';
import type { Settings } from '../settings.ts';
import type { Scope } from '../request-scope.ts';
import { addressOf, inboxOf, lifetimeMs, type QueuedMail, type Row } from './receipt-mail.ts';
import { receiptMailOf } from './receipt.ts';

const { statementId, inbox, isOwn, sendAt, attempts, dueAt } = receiptMails;

const atOnce = 5;

const stepsPerRun = 10;

const leaseMs = 60_000;

/** The cron job sends what fails here. */
export function mailSoon(
  scope: Scope<'db' | 'settings' | 'now' | 'waitUntil'>,
  mail: QueuedMail | undefined,
): void {
  if (mail && mail.sendAt <= scope.now) scope.waitUntil(mailReceipts(scope, mail.inbox));
}

export async function mailReceipts(scope: Scope<'db' | 'settings'>, only?: string): Promise<void> {
  for (let step = 0; step < stepsPerRun; step += 1) {
    const mails = await lease(scope.db, Date.now(), only);
    await Promise.all(mails.map((mail) => deliver(scope, mail)));
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

async function deliver(scope: Scope<'db' | 'settings'>, mail: Leased): Promise<void> {
  const { db, settings } = scope;
  const own = and(eq(inbox, mail.inbox), eq(sendAt, mail.sendAt));
  const rows = await db
    .select({ mail: receiptMails, statement: withdrawals })
    .from(receiptMails)
    .innerJoin(withdrawals, eq(withdrawals.id, statementId))
    .where(own)
    .orderBy(asc(withdrawals.seq));
  const { email, statements } = await addressed(settings, rows);
  const result =
    email === null
      ? none
      : await send(settings, {
          mail,
          email,
          statements,
        });

  const end = endOf(mail, result, statements);
  const retryAt = Date.now() + retryPause(mail.attempts);
  if (end === 'retry')
    await db
      .update(receiptMails)
      .set({ dueAt: retryAt })
      .where(and(own, isNotNull(dueAt)));
  // `support` opens the address for the owner.
  else
    await db
      .update(receiptMails)
      .set({ dueAt: null, ...(end === 'over' && { sealed: '' }) })
      .where(own);
}

const none: MailResult = {
  sent: false,
  status: 0,
  fault: 'theirs',
};

type FoundMail = { mail: Row; statement: Withdrawal };

async function addressed(settings: Settings, rows: FoundMail[]) {
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

type Addressed = {
  mail: Leased;
  email: string;
  statements: Withdrawal[];
};

async function send(
  settings: Settings,
  { mail, email, statements }: Addressed,
): Promise<MailResult> {
  const service = mailService(settings);
  if (!service)
    return {
      sent: false,
      status: 0,
      fault: 'passing',
    };

  const text = await receiptMailOf(settings, statements, mail.isOwn);
  return sendMail(service, {
    id: `receipt-${mail.inbox}-${mail.sendAt}`,
    to: email,
    ...text,
  });
}

/** The log never has the address. */
function endOf(mail: Leased, result: MailResult, statements: Withdrawal[]) {
  if (result.sent) return 'over';

  const { status, fault } = result;
  const isTooOld = mail.sendAt + lifetimeMs <= Date.now();
  if (fault === 'ours')
    log('error', 'mail_refused', {
      status,
      action: checkKey,
    });
  for (const { id } of statements) {
    // No alarm for an address that nobody has.
    if (fault === 'theirs') log('info', 'receipt_refused', { id, status });
    else if (isTooOld)
      log('error', 'receipt_not_mailed', {
        id,
        status,
        action: sendIt,
      });
  }
  if (fault === 'theirs') return 'over';
  return isTooOld ? 'unsent' : 'retry';
}

const checkKey = 'Check MAIL_API_KEY and MAIL_FROM: run `npm run doctor`.';

const sendIt = 'Send the receipt by hand: `npm run support -- withdrawals` lists the statements.';
