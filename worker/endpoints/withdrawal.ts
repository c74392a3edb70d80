import type { User } from '#db/schema';
import { eq } from 'drizzle-orm';
import { customers } from '#db/schema';
import { CanonicalPhone, readPastedPhone } from '../identity/phone.ts';
import { leaseOf, withLease, type LeasedCustomer, type Outcome } from '../billing/lease.ts';
import { billingCalls, withdrawalCalls } from '../billing/page-limits.ts';
import { withinLimit } from '../identity/limited-act.ts';
import { StripeUnavailable, withStripe } from '../billing/stripe-client.ts';
import type { Output } from '../contract/endpoints.ts';
import type { BaseContext, Handler, UserContext } from '../http/request-context.ts';
import { batch, type Database } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';
import { describeError, log } from '../lib/log.ts';
import type { Settings } from '../settings.ts';
import {
  readContract,
  type ConcludedContract,
  type Terms,
} from '../withdrawal/concluded-contract.ts';
import { sumOf } from '../withdrawal/payments.ts';
import { receiptForPerson, receiptLinkMs, receiptOf, opensReceipt } from '../withdrawal/receipt.ts';
import { mailService } from '../messaging/mail.ts';
import { isDelayed, type QueuedMail } from '../withdrawal/receipt-mail.ts';
import { mailReceipts } from '../withdrawal/send-receipt-mails.ts';
import { logNeedsOwner, settle } from '../withdrawal/settlement.ts';
import { choicesOf, type KeptChoice } from '../billing/start-choice.ts';
import { isUnconfirmed, objectTo } from '../withdrawal/objection.ts';
import { lastStatement, shownStatement, statementNow } from '../withdrawal/shown-statement.ts';
import { keepOwnStatement, repeatStatement } from '../withdrawal/own-statement.ts';
import { keepPublicStatement } from '../withdrawal/public-statement.ts';
import {
  objected,
  statementOf,
  statementsOf,
  type Kept,
  type Statement,
} from '../withdrawal/statements.ts';
import * as v from 'valibot';

type Shown = Output<'getWithdrawal'>;

export const getWithdrawal: Handler<'getWithdrawal'> = async ({ session, db, settings, now }) => {
  requireWithdrawal(settings);
  const userId = session.claimedUserId;
  const reads = {
    customer: db.select().from(customers).where(eq(customers.userId, userId)),
    statements: statementsOf(db, userId),
    choices: choicesOf(db, userId),
  };

  return withinLimit(session, { ...billingCalls(userId), now, reads }, async (_user, read) => {
    const { statements, choices } = read;
    const [found] = read.customer;
    const known = { userId, statements, choices };
    const contract = await contractNow(settings, found?.stripeId ?? null, known);
    return {
      success: true as const,
      contract: contract && shownContract(contract),
      ...(await lastOf(settings, statements)),
    };
  });
};

async function lastOf(settings: Settings, statements: Statement[]) {
  const last = lastStatement(statements);
  if (!last) return { statement: null };
  return { statement: shownStatement(last), receipt: await receiptForPerson(settings, last) };
}

/** Throws 404 where the owner has turned the right off. */
function requireWithdrawal({ WITHDRAWAL_DAYS: days }: Settings): void {
  if (days === 0) throw new RequestError('notFound');
}

function termsOf(settings: Settings, userId: string, { statements, choices }: Known): Terms {
  const withdrawn = statements.flatMap(({ subscription }) => subscription ?? []);
  return { userId, days: settings.WITHDRAWAL_DAYS, choices, withdrawn };
}

/**
 * The contract that could be withdrawn now. None where an open
 * statement means it already, also while Stripe does not respond.
 */
async function contractNow(
  settings: Settings,
  stripeId: string | null,
  { userId, ...known }: Known & { userId: string },
): Promise<ConcludedContract | null> {
  const isStated = known.statements.some(meansAnyContract);
  if (stripeId === null || isStated) return null;

  const terms = termsOf(settings, userId, known);
  const read = withStripe(settings, (stripe) => readContract(stripe, stripeId, terms));
  const found = await read.catch((error: unknown) => {
    const isOpen = lastStatement(known.statements)?.state === 'received';
    if (error instanceof StripeUnavailable && isOpen) return null;
    throw error;
  });
  return found?.contract ?? null;
}

const meansAnyContract = (statement: Statement): boolean =>
  statement.state === 'received' && statement.subscription === null && !isUnconfirmed(statement);

function shownContract(contract: ConcludedContract): NonNullable<Shown['contract']> {
  return {
    tier: contract.tier,
    concludedAt: new Date(contract.concludedAt).toISOString(),
    withdrawableUntil: new Date(contract.until).toISOString(),
    startNow: contract.startNow,
    paid: sumOf(contract.payments, 'paid'),
    refund: sumOf(contract.payments, 'refund'),
    currency: contract.currency,
  };
}

export const withdraw: Handler<'withdraw'> = async (context) => {
  const { session, db, settings, now } = context;
  requireWithdrawal(settings);
  const userId = session.claimedUserId;
  const reads = { seen: leaseOf(db, userId) };

  const limited = { ...withdrawalCalls(userId), now, reads };
  return withinLimit(session, limited, ({ id }, { seen }) =>
    withLease(context, id, (leased) => withdrawFrom(context, leased), { seen }),
  );
};

/** Keeps the statement first: from then on it counts. */
async function withdrawFrom(context: UserContext<'withdraw'>, leased: LeasedCustomer) {
  const { db, settings, now, input, language } = context;
  const { user } = leased;
  const { statements, choices } = await batch(db, {
    statements: statementsOf(db, user.id),
    choices: choicesOf(db, user.id),
  });
  const kept = { statements, choices };
  const email = input.email ?? null;
  const again = { email, now };
  const waiting = statements.find(isUnconfirmed);
  if (waiting && (await hasContract(settings, leased, waiting, kept)))
    return settleKept(context, leased, await repeatStatement(context, waiting, again));

  const found = await findContract(settings, leased, kept);
  if (found === 'none') {
    const last = await repeatStatement(context, lastStatement(statements)!, again);
    return { result: await responseToPerson(context, last) };
  }

  const own = await keepOwnStatement(context, {
    userId: user.id,
    contact: user.phone,
    email,
    language,
    now,
    found: found === 'unknown' ? null : found,
  });
  return settleKept(context, leased, own);
}

async function settleKept(context: UserContext<'withdraw'>, leased: LeasedCustomer, kept: Kept) {
  const { result: statement, ...released } = await settleSoon(context, leased, kept.statement);
  return { result: await responseToPerson(context, { ...kept, statement }), ...released };
}

/** The cron job sends what fails here. */
function mailSoon({ waitUntil, now, ...place }: BaseContext, mail: QueuedMail | undefined): void {
  if (mail && mail.sendAt <= now) waitUntil(mailReceipts(place, mail.inbox));
}

export const objectToWithdrawal: Handler<'objectToWithdrawal'> = async (context) => {
  const { session, db, settings, input } = context;
  requireWithdrawal(settings);
  const lease = leaseOf(db, session.claimedUserId);

  // Under the lease, so that the statement is not taking effect meanwhile.
  return session.run([lease], ({ id }, seen) =>
    withLease(context, id, async () => object(db, input.id, id), { seen }),
  );
};

async function object(db: Database, id: string, userId: string) {
  const isStopped = await objectTo(db, id, userId);
  if (!isStopped) throw new RequestError('notFound');

  logNeedsOwner({ id }, objected);
  return { result: { success: true as const } };
}

type Known = { statements: Statement[]; choices: KeptChoice[] };

/** While Stripe does not respond, the statement is believed. */
async function hasContract(
  settings: Settings,
  { customer: { stripeId }, user }: LeasedCustomer,
  { subscription, submittedAt: statedAt }: Statement,
  kept: Known,
): Promise<boolean> {
  if (subscription !== null) return true;
  if (stripeId === null) return false;

  const terms = { ...termsOf(settings, user.id, kept), statedAt };
  const read = withStripe(settings, (stripe) => readContract(stripe, stripeId, terms));
  const found = await read.catch((error: unknown) => {
    if (error instanceof StripeUnavailable) return null;
    throw error;
  });
  return found === null || found.contract !== null;
}

type Found = { contract: ConcludedContract; at: number } | 'none' | 'unknown';

/** `unknown` while Stripe does not respond: the statement counts. */
async function findContract(
  settings: Settings,
  { customer, user }: LeasedCustomer,
  kept: Known,
): Promise<Found> {
  const { statements } = kept;
  const { stripeId } = customer;
  if (!stripeId) return noContract(statements, false);

  const terms = termsOf(settings, user.id, kept);
  const read = withStripe(settings, (stripe) => readContract(stripe, stripeId, terms));
  const found = await read.catch((error: unknown) => {
    if (error instanceof StripeUnavailable && hasPlan(user)) return null;
    throw error;
  });
  if (found === null) return 'unknown';

  const { contract, at, isSubscribed } = found;
  return contract ? { contract, at } : noContract(statements, isSubscribed);
}

/** Throws 409 where there is nothing to withdraw from. */
function noContract(statements: Statement[], isSubscribed: boolean): 'none' {
  if (lastStatement(statements) && !isSubscribed) return 'none';
  throw new RequestError('conflict', {
    message: 'There is no contract that you could withdraw from.',
  });
}

const hasPlan = ({ tier, renewalAt }: User): boolean => tier !== 'free' || renewalAt !== null;

/** The cron job goes on with what fails here. */
async function settleSoon(
  context: UserContext<'withdraw'>,
  leased: LeasedCustomer,
  statement: Statement,
): Promise<Outcome<Statement>> {
  try {
    return await settle(context, leased, statement);
  } catch (error) {
    log('error', 'withdrawal_postponed', { id: statement.id, ...describeError(error) });
    return { result: statement, changes: { dueAt: Date.now() } };
  }
}

function respond(context: BaseContext, { statement, mail }: Kept, receipt: string) {
  mailSoon(context, mail);
  return {
    success: true as const,
    statement: statementNow(statement),
    receipt,
    mail: mail
      ? { at: new Date(mail.sendAt).toISOString(), isDelayed: isDelayed(mail, context.now) }
      : null,
  };
}

/** Without what a stranger has written, also when confirmed. */
async function responseToPerson(context: BaseContext, kept: Kept) {
  const receipt = await receiptForPerson(context.settings, kept.statement);
  return respond(context, kept, receipt);
}

export const getWithdrawalForm: Handler<'getWithdrawalForm'> = async ({ settings }) => {
  requireWithdrawal(settings);
  return { success: true as const, email: mailService(settings) !== null };
};

/** The response says nothing about accounts. */
export const stateWithdrawal: Handler<'stateWithdrawal'> = async (context) => {
  const { settings, input, address, language, now } = context;
  requireWithdrawal(settings);
  const { name, contact, plan, email } = input;

  const { statement, mail } = await keepPublicStatement(
    context,
    {
      name,
      contact,
      plan: plan ?? null,
      email: email ?? null,
      language,
      phone: await phoneIn(contact),
    },
    { address, now },
  );
  if (statement.state === 'needs_owner') logNeedsOwner(statement, statement.reason);
  const receipt = await receiptOf(settings, statement);
  const received: Statement = { ...statement, state: 'received' };
  return respond(context, { statement: received, mail }, receipt);
};

async function phoneIn(contact: string): Promise<string | null> {
  if (contact.includes('@')) return null;

  const phone = v.safeParse(CanonicalPhone, await readPastedPhone(contact));
  return phone.success ? phone.output : null;
}

export const getWithdrawalReceipt: Handler<'getWithdrawalReceipt'> = async (context) => {
  const { db, settings, params, query, now } = context;
  requireWithdrawal(settings);
  const statement = await statementOf(db, params.id);
  const isRight = await opensReceipt(settings, params.id, query.key);
  if (!statement || !isRight || now > statement.submittedAt + receiptLinkMs)
    throw new RequestError('notFound');

  const receipt = await receiptOf(settings, statement);
  return new Response(`${receipt}\n`, {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="withdrawal-${statement.seq}.txt"`,
    },
  });
};
