import { eq } from 'drizzle-orm';
import { customers, type Withdrawal } from '#db/schema';
import { CanonicalPhone, readPastedPhone } from '../identity/phone.ts';
import { leaseOf, withLease } from '../billing/lease.ts';
import { billingCalls, withdrawalCalls } from '../billing/billing-limits.ts';
import { withinLimit } from '../identity/limited-act.ts';
import type { Output } from '../contract/endpoints.ts';
import type { BaseScope, Handler } from '../http/handlers.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { type ShownContract, withdrawableContract } from '../withdrawal/find-contract.ts';
import { sumOf } from '../withdrawal/payments.ts';
import { openReceipt, receiptForPerson, receiptOf } from '../withdrawal/receipt.ts';
import { mailService } from '../messaging/mail.ts';
import { isDelayed } from '../withdrawal/receipt-mail.ts';
import { mailSoon } from '../withdrawal/send-receipt-mails.ts';
import { logNeedsOwner } from '../withdrawal/settlement.ts';
import { choicesOf } from '../billing/start-choice.ts';
import { objectTo } from '../withdrawal/objection.ts';
import { lastStatement, shownStatement, statementNow } from '../withdrawal/shown-statement.ts';
import { recordPublicStatement } from '../withdrawal/public-statement.ts';
import { objected, statementsOf, type Recorded } from '../withdrawal/statements.ts';
import { withdrawFrom } from '../withdrawal/withdraw.ts';
import * as v from 'valibot';

type Shown = Output<'getWithdrawal'>;

export const getWithdrawal: Handler<'getWithdrawal'> = async ({ session, db, settings, now }) => {
  requireWithdrawal(settings);
  const userId = session.tokenUserId;
  const reads = {
    customer: db.select().from(customers).where(eq(customers.userId, userId)),
    statements: statementsOf(db, userId),
    choices: choicesOf(db, userId),
  };

  return withinLimit(session, { ...billingCalls(userId), now, reads }, async ({ user }, read) => {
    const { customer, ...history } = read;
    const stripeId = customer[0]?.stripeId ?? null;
    const contract = await withdrawableContract({
      settings,
      user,
      stripeId,
      ...history,
    });
    return {
      success: true as const,
      contract: contract && shownContract(contract),
      ...(await lastOf(settings, history.statements)),
    };
  });
};

/** Throws 404 where the right is off. */
function requireWithdrawal(settings: Settings): void {
  if (settings.require('WITHDRAWAL_DAYS') === 0) throw new RequestError('notFound');
}

function shownContract(contract: ShownContract): NonNullable<Shown['contract']> {
  const { payments } = contract;
  return {
    tier: contract.tier,
    concludedAt: new Date(contract.concludedAt).toISOString(),
    withdrawableUntil: new Date(contract.until).toISOString(),
    startNow: contract.startNow,
    paid: payments && sumOf(payments, 'paid'),
    refund: payments && sumOf(payments, 'refund'),
    currency: contract.currency,
  };
}

async function lastOf(settings: Settings, statements: Withdrawal[]) {
  const last = lastStatement(statements);
  if (!last) return { statement: null };
  return {
    statement: shownStatement(last),
    receipt: await receiptForPerson(settings, last),
  };
}

export const withdraw: Handler<'withdraw'> = async (scope) => {
  const { session, db, settings, now, input } = scope;
  requireWithdrawal(settings);
  const userId = session.tokenUserId;
  const reads = { seen: leaseOf(db, userId) };

  const limited = { ...withdrawalCalls(userId), now, reads };
  return withinLimit(session, limited, async ({ user }, { seen }) => {
    const recorded = await withLease(
      scope,
      user.id,
      (leased) => withdrawFrom(scope, leased, input.email ?? null),
      { seen },
    );
    return respond(scope, recorded, await receiptForPerson(settings, recorded.statement));
  });
};

function respond(scope: BaseScope, { statement, mail }: Recorded, receipt: string) {
  mailSoon(scope, mail);
  return {
    success: true as const,
    statement: statementNow(statement),
    receipt,
    mail: mail
      ? {
          at: new Date(mail.sendAt).toISOString(),
          isDelayed: isDelayed(mail, scope.now),
        }
      : null,
  };
}

export const objectToWithdrawal: Handler<'objectToWithdrawal'> = async (scope) => {
  const { session, db, settings, input } = scope;
  requireWithdrawal(settings);
  const lease = leaseOf(db, session.tokenUserId);

  return session.run([lease], ({ user }, seen) =>
    withLease(
      scope,
      user.id,
      async () => {
        const isStopped = await objectTo(db, input.id, user.id);
        if (!isStopped) throw new RequestError('notFound');

        logNeedsOwner(input, objected);
        return { result: { success: true as const } };
      },
      { seen },
    ),
  );
};

export const getWithdrawalForm: Handler<'getWithdrawalForm'> = async ({ settings }) => {
  requireWithdrawal(settings);
  return { success: true as const, email: mailService(settings) !== null };
};

/** The response says nothing about accounts. */
export const stateWithdrawal: Handler<'stateWithdrawal'> = async (scope) => {
  const { settings, input, language } = scope;
  requireWithdrawal(settings);
  const { name, contact, plan = null, email = null } = input;
  const phone = await phoneIn(contact);

  const stated = { name, contact, plan, email, language, phone };
  const { statement, mail } = await recordPublicStatement(scope, stated);
  if (statement.state === 'needs_owner') logNeedsOwner(statement, statement.reason);

  const receipt = await receiptOf(settings, statement);
  const received: Withdrawal = { ...statement, state: 'received' };
  return respond(scope, { statement: received, mail }, receipt);
};

async function phoneIn(contact: string): Promise<string | null> {
  if (contact.includes('@')) return null;

  const phone = v.safeParse(CanonicalPhone, await readPastedPhone(contact));
  return phone.success ? phone.output : null;
}

export const getWithdrawalReceipt: Handler<'getWithdrawalReceipt'> = async (scope) => {
  const { settings, params, query } = scope;
  requireWithdrawal(settings);
  const receipt = await openReceipt(scope, { id: params.id, key: query.key });
  if (!receipt) throw new RequestError('notFound');

  return new Response(receipt.text, {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="withdrawal-${receipt.day}.txt"`,
    },
  });
};
