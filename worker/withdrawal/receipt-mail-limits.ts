import { and, desc, isNotNull, type SQL } from 'drizzle-orm';
import { receiptMails } from '#db/schema';
import { coalesce, plus } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import type { Limit } from '../lib/rate-limits.ts';
import { build } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';
import type { QueuedMail } from './receipt-mail.ts';

const { budget, sendAt } = receiptMails;

/** Strangers can name any address; what is more goes in the next mail. */
export const ofInbox = { most: 3, per: dayMs };

/**
 * So many mails a day of one network (of IPv4 one address) are few. They have a
 * budget of their own, which a network that states more often does not use up:
 * thirty addresses delay themselves alone.
 */
export const fewOfNetwork = { most: 3, per: dayMs };

export const budgets = {
  few: { most: 3000, per: dayMs },
  many: { most: 300, per: dayMs },
};

export const inboxesOfPerson = 10;

export function nextAtSql(which: SQL, { most, per }: Limit): SQL<number> {
  const nth = build
    .select({ at: sendAt })
    .from(receiptMails)
    .where(and(which, isNotNull(budget)))
    .orderBy(desc(sendAt))
    .limit(1)
    .offset(most - 1);
  return coalesce<number>(plus(nth, per), 0);
}

export function reportWaiting(mail: QueuedMail | undefined, now: number): void {
  if (!mail?.budget || mail.sendAt <= now) return;
  const until = new Date(mail.sendAt).toISOString();
  log('error', 'receipt_mail_waits', {
    budget: mail.budget,
    until,
    action: lookForFlood,
  });
}

const lookForFlood = 'See whether somebody floods the form: `npm run support -- withdrawals`.';
