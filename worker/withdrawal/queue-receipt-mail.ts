import { and, eq, gt, inArray, isNotNull, lte, not, notExists, type SQLWrapper } from 'drizzle-orm';
import { receiptMails } from '#db/schema';
import { networkOf } from '../lib/caller.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { coalesce, greatest, iif, plus, rowExists, valueOf } from '../lib/expressions.ts';
import { sealJson } from '../lib/sealed-json.ts';
import { build } from '../lib/sql.ts';
import { sql } from '../lib/sql-text.ts';
import { mailService } from '../messaging/mail.ts';
import type { Settings } from '../settings.ts';
import {
  budgets,
  fewOfNetwork,
  inboxesOfPerson,
  nextAtSql,
  ofInbox,
} from './receipt-mail-limits.ts';
import { inboxOf, lifetimeMs, type NewMail, sealingOf } from './receipt-mail.ts';
import { receiptLinkMs } from './receipt.ts';

const { statementId, inbox, isOwn, network, budget, sendAt, attempts, dueAt } = receiptMails;

function mailsTo(settings: Settings, email: string | null): email is string {
  return email !== null && mailService(settings) !== null;
}

type Stated = {
  id: string;
  email: string | null;
  now: number;
};

/**
 * The mail that a stranger's statement brings; null where none is sent. It
 * goes with one that waits for the same inbox, or as soon as the limits
 * allow.
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

  const isFew = lte(nextAtSql(inArray(network, networks), fewOfNetwork), now);
  const budgetAt = iif(
    isFew,
    nextAtSql(eq(budget, 'few'), budgets.few),
    nextAtSql(eq(budget, 'many'), budgets.many),
  );

  const plan = build
    .select({
      waitsAt: valueOf(sendAt, waits).as('waits_at'),
      inbox: coalesce<string>(valueOf(inbox, waits), inboxes[0]).as('inbox'),
      sendAt: coalesce<number>(
        valueOf(sendAt, waits),
        greatest(now, nextAtSql(isTheirs, ofInbox), budgetAt),
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

/** One for each address; null where none is sent. */
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
