import { asc, eq, inArray } from 'drizzle-orm';
import { withdrawals, type Withdrawal } from '#db/schema';
import type { Database } from '../../lib/database.ts';
import { receiptOf } from '../../withdrawal/receipt.ts';
import { unsentTo } from '../../withdrawal/receipt-mail.ts';
import { completed, restored, updateAsRead } from '../../withdrawal/statements.ts';
import { printableOnLine, UsageError } from '../command-line.ts';
import {
  findUser,
  type Action,
  type SupportCommand,
  type SupportRequest,
} from './command-audit.ts';

export const withdrawalCommand: SupportCommand = {
  usage: 'withdrawals [show|match|complete SEQ [NUMBER] --yes]',
  about:
    'lists the statements whose money is not back, shows one, gives one to an account (match SEQ NUMBER --yes), or ends one that you paid back yourself (complete SEQ --yes)',
  async run(request) {
    const [verb, seq, number] = request.words;
    if (verb === undefined) return list(request);
    if (number && verb !== 'match') throw new UsageError(`Only match takes a number, not ${verb}.`);

    if (verb === 'show') return show(request, await statementWith(request.db, seq));
    if (verb === 'match') return match(request, await openStatement(request.db, seq), number);
    if (verb === 'complete') return complete(request, await openStatement(request.db, seq));
    throw new UsageError('withdrawals takes nothing, or show, match or complete.');
  },
};

function list({ db }: SupportRequest): Action {
  return {
    would: 'list the statements of withdrawal whose money is not back',
    about: 'open statements',
    needsYes: false,
    async perform() {
      const unfinished = inArray(withdrawals.state, ['received', 'refunding', 'needs_owner']);
      const rows = await db
        .select()
        .from(withdrawals)
        .where(unfinished)
        .orderBy(asc(withdrawals.seq));
      const data = rows.map(summaryOf);
      const lines = data.map(
        ({ seq, submittedAt, origin, state, reason, matched }) =>
          `${seq}  ${submittedAt}  ${origin}  ${state}${reason ? ` (${reason})` : ''}${matched ? '' : '  no account'}`,
      );
      return { data, text: lines.join('\n') || 'Every withdrawal is done.' };
    },
  };
}

const instant = (at: number | null) => at && `${new Date(at).toISOString().slice(0, 16)}Z`;

function summaryOf({ seq, id, origin, submittedAt, state, reason, ...rest }: Withdrawal) {
  return {
    seq,
    id,
    origin,
    submittedAt: instant(submittedAt),
    state,
    reason,
    matched: rest.userId !== null,
    tier: rest.tier,
    refund: rest.refund,
    currency: rest.currency,
    nextLookAt: instant(rest.dueAt),
  };
}

function show({ db, settings }: SupportRequest, statement: Withdrawal): Action {
  return {
    would: `show withdrawal ${statement.seq}`,
    about: `withdrawal ${statement.seq}`,
    needsYes: false,
    async perform() {
      const { name, contact, email, plan, userId, subscription } = statement;
      const stated = { name, contact, email, plan, userId, subscription };
      const receipt = await receiptOf(settings, statement);
      const notMailedTo = (await unsentTo({ db, settings }, statement.id)).join(', ') || null;
      const data = {
        ...summaryOf(statement),
        ...stated,
        notMailedTo,
        receipt,
      };
      const lines = Object.entries(data).map(([key, value]) =>
        key === 'receipt'
          ? ''
          : `${`${key}:`.padEnd(14)}${printableOnLine(String(value ?? 'none'))}`,
      );
      const printable = receipt.split('\n').map(printableOnLine);
      return { data, text: [...lines, ...printable].join('\n') };
    },
  };
}

async function match(
  { db }: SupportRequest,
  statement: Withdrawal,
  number: string | undefined,
): Promise<Action> {
  const user = await findUser(db, number);
  // What was paid back by its id is not paid again.
  const isKnown = statement.subscription !== null && statement.reason !== restored;
  if (isKnown) throw new Error('The contract of this statement is known. Nothing was changed.');
  const contract =
    user.tier === 'free'
      ? `account of ${user.phone}, which has no plan now, from what it bought, if that is anything`
      : `${user.tier} account of ${user.phone} from its contract`;
  return {
    would: `withdraw the ${contract}, by statement ${statement.seq}`,
    about: `withdrawal ${statement.seq}`,
    needsYes: true,
    async perform() {
      const changes = {
        userId: user.id,
        state: 'received',
        reason: null,
        attempts: 0,
      } as const;
      await change(db, statement, { ...changes, dueAt: statement.submittedAt });
      const text = `Statement ${statement.seq} belongs to ${user.phone} and is settled within a minute, if there is a contract.`;
      return { data: { matched: statement.seq }, text };
    },
  };
}

function complete({ db }: SupportRequest, statement: Withdrawal): Action {
  const { seq } = statement;
  return {
    would: `say that nothing is left to do for withdrawal ${seq}, because you gave the money back yourself or nothing was owed`,
    about: `withdrawal ${seq}`,
    needsYes: true,
    async perform() {
      await change(db, statement, {
        state: 'done',
        reason: completed,
        dueAt: null,
      });
      return { data: { completed: seq }, text: `Withdrawal ${seq} is done.` };
    },
  };
}

/** Throws if it was changed meanwhile. */
async function change(db: Database, statement: Withdrawal, changes: Partial<Withdrawal>) {
  const { rowsAffected } = await updateAsRead(db, statement, changes);
  if (rowsAffected > 0) return;
  throw new Error(
    `Statement ${statement.seq} has changed meanwhile. Nothing was changed. Show it, then decide again.`,
  );
}

async function statementWith(db: Database, seq: string | undefined): Promise<Withdrawal> {
  if (!seq || !/^\d+$/.test(seq))
    throw new UsageError('Give the number of a statement, as `withdrawals` lists it.');
  const [found] = await db
    .select()
    .from(withdrawals)
    .where(eq(withdrawals.seq, Number(seq)));
  if (!found) throw new Error(`No statement has the number ${seq}.`);
  return found;
}

async function openStatement(db: Database, seq: string | undefined): Promise<Withdrawal> {
  const statement = await statementWith(db, seq);
  if (statement.state === 'done')
    throw new Error(`Withdrawal ${seq} is done. Nothing was changed.`);
  return statement;
}
