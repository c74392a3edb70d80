import { planOf } from '../../../worker/contract/plans.ts';
import { weekMs } from '../../../worker/usage/week.ts';
import { sum } from '../../bench/measurement.ts';
import { accountsIn, type Account, checkCases, type Finding } from '../invariants/accounts.ts';
import {
  holdingsOf,
  kept,
  liveIn,
  settledIn,
  stateAt,
  type Holdings,
} from '../invariants/entitlements.ts';
import type { Rig } from '../rig.ts';
import type { Customer } from './customer.ts';

type Case = {
  customer: Customer;
  holdings: Holdings;
  account: Account | undefined;
};

export async function audit(
  rig: Rig,
  customers: Customer[],
  leastCents: number,
): Promise<Finding[]> {
  const accounts = await accountsIn(rig.database);
  const cases: Case[] = [];
  for (const customer of customers)
    cases.push({
      customer,
      holdings: await holdingsOf(rig, customer),
      account: accounts.get(customer.phone),
    });
  const staying = cases.filter(({ customer }) => !customer.left);
  const leaving = cases.filter(({ customer }) => customer.left);
  const check = (what: string, of: Case[], law: (each: Case) => string | null) =>
    checkCases(what, of, (each) => {
      const error = law(each);
      return error && `${each.customer.phone}: ${error}`;
    });
  return [
    await check('plan in the database equals Stripe', staying, ({ holdings, account }) => {
      const [expected, found] = [kept(stateAt(holdings, rig.tiers)), account && kept(account)];
      return found === expected ? null : `Stripe ${expected}, database ${found}`;
    }),
    await check('week in the database is the last paid one', staying, weekDiffers),
    await check('one live subscription at most', staying, ({ holdings }) =>
      liveIn(holdings).length > 1 ? 'pays twice' : null,
    ),
    await check('no week is charged twice', cases, ({ holdings }) => {
      const weeks = paidWeeks(holdings).map(
        ({ subscription, start }) => `${subscription} ${start}`,
      );
      return new Set(weeks).size === weeks.length ? null : 'paid twice for one week';
    }),
    await check('no message beyond the allowances of paid weeks', staying, grantedUnpaid),
    await check(
      `nobody's message costs less than ${leastCents.toFixed(2)} cents in money`,
      cases,
      (each) => {
        const paid = new Set(paidWeeks(each.holdings).map(({ start }) => start + weekMs));
        const messages = sum(
          [...each.customer.allowed].map(([end, count]) => (paid.has(Date.parse(end)) ? count : 0)),
        );
        const cents = sum(each.holdings.invoices.map(({ amount_paid: amount }) => amount));
        return cents >= leastCents * messages ? null : `paid ${cents} cents for ${messages}`;
      },
    ),
    await check('nothing left of those who have left', leaving, leftBehind),
  ];
}

function weekDiffers({ holdings, account }: Case): string | null {
  const [subscription] = liveIn(holdings);
  if (!subscription || !account || subscription.status === 'trialing') return null;
  const paid = paidWeeks(holdings).filter((week) => week.subscription === subscription.id);
  if (paid.length === 0) return account.weekFrozen ? 'never paid, and frozen' : null;
  const start = Math.max(...paid.map((week) => week.start));
  const holds = account.weekAnchor === start && account.weekFrozen;
  return holds
    ? null
    : `${subscription.status}, paid from ${start}, database ${account.weekAnchor}`;
}

/** Messages need a paid week. Our clock does not advance, so the free week restarts each time a subscription ends. */
function grantedUnpaid({ customer, holdings }: Case): string | null {
  const paid = new Set(paidWeeks(holdings).map(({ start }) => start));
  const free = planOf('free').messageLimit! * (holdings.subscriptions.length + 1);
  const beyond = [...customer.allowed].find(([resetsAt, count]) => {
    const isPaid = paid.has(Date.parse(resetsAt) - weekMs);
    return count > (isPaid ? planOf('platinum').messageLimit! : free);
  });
  return beyond ? `${beyond[1]} messages in the week until ${beyond[0]}` : null;
}

function leftBehind({ holdings, account }: Case): string | null {
  if (account) return 'has left and has an account';
  // Stripe keeps the draft of an ended subscription, but never finalizes it by itself.
  const charging = holdings.invoices.filter(
    ({ status, auto_advance: advances }) => status === 'open' || (status === 'draft' && advances),
  );
  const left = [...liveIn(holdings), ...charging].map(({ id, status }) => `${id} is ${status}`);
  if (!holdings.customer.deleted) left.push('the customer exists');
  return left.length > 0 ? `has left, and at Stripe ${left.join(', ')}` : null;
}

/** The starts (unix ms) of the whole weeks that were paid for, also by way of a credit for a paid week. */
function paidWeeks({ invoices }: Holdings) {
  const lines = settledIn(invoices).flatMap((invoice) => invoice.lines.data);
  const weeks = lines.filter(
    ({ amount, parent }) => amount > 0 && !parent.subscription_item_details.proration,
  );
  return weeks.map(({ parent: { subscription_item_details: details }, period }) => ({
    subscription: details.subscription,
    start: period.start * 1000,
  }));
}
