import { and, eq, ne, type SQL } from 'drizzle-orm';
import { receiptMails } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { openJson } from '../lib/sealed-json.ts';
import { dayMs } from '../lib/time.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import type { Scope } from '../request-scope.ts';

/*
 * The receipt of a statement by e-mail. It goes to the address that came
 * with the call which has made, repeated or confirmed the statement: a
 * stranger's mail says nothing of the account, a person's goes to nobody
 * else. No mail is dropped. One above a limit waits, and the response says
 * until when.
 */

export type Row = typeof receiptMails.$inferSelect;

/** Services recognise a repeated mail for a day. */
export const lifetimeMs = dayMs;

const { statementId, inbox, isOwn, sealed, budget, sendAt } = receiptMails;

/**
 * Letters of either case and a `+tag` lead to the
 * same inbox; at Gmail dots and both its names, too.
 */
export function inboxOf(email: string): string {
  const inbox = email.toLowerCase().replace(/\+[^@]*(?=@)/, '');
  const [name = '', host = ''] = inbox.split('@');
  const isGmail = host === 'gmail.com' || host === 'googlemail.com';
  return isGmail ? `${name.replaceAll('.', '')}@gmail.com` : inbox;
}

export const sealingOf = (row: Pick<Row, 'statementId' | 'isOwn'>) => ({
  purpose: 'receipt-mail' as const,
  context: `receipt-mail|v1|${row.statementId}|${row.isOwn ? 'person' : 'stranger'}`,
});

export type NewMail = {
  queue: <Outcome extends string>(tx: Transaction<Outcome, unknown>, on: On<Outcome>) => void;
  own: SQL;
};

export type QueuedMail = Pick<Row, 'inbox' | 'isOwn' | 'budget' | 'sendAt'>;

export const queuedMail = (db: Database, mail: NewMail | null) =>
  db
    .select({ inbox, isOwn, budget, sendAt })
    .from(receiptMails)
    .where(mail?.own ?? eq(statementId, ''));

export const isDelayed = (mail: QueuedMail, now: number): boolean =>
  !mail.isOwn && mail.sendAt > now;

export const addressOf = ({ CODE_PEPPER }: Settings, row: Row): Promise<string | null> =>
  openJson<string>(CODE_PEPPER, sealingOf(row), row.sealed);

export async function unsentTo(
  { db, settings }: Scope<'db' | 'settings'>,
  id: string,
): Promise<string[]> {
  const rows = await db
    .select()
    .from(receiptMails)
    .where(and(eq(statementId, id), ne(sealed, '')));
  const opened = await Promise.all(rows.map((row) => addressOf(settings, row)));
  return opened.filter((each) => each !== null);
}
