import { planOf } from '../../../worker/contract/plans.ts';
import { accountsIn, type Account, checkCases, type Finding } from '../invariants/accounts.ts';
import { free, liveIn, settledIn, standingAt, type Holdings, type Invoice } from '../invariants/subscriptions.ts';
import type { Rig } from '../rig.ts';
import type { Customer } from './customer.ts';

const weekMs = 7 * 86_400_000;

type Case = { customer: Customer; holdings: Holdings | null; account: Account | undefined };

/** What the customers paid in US cents, the messages of the weeks that were paid for, and the least that one cost. */
export type Income = { cents: number; messages: number; leastCents: number };

/**
 * The invariants at the end: every customer's plan, weeks and charges agree with Stripe, and nobody's message costs less
 * than `leastCents`.
 */
export async function auditAll(rig: Rig, customers: Customer[], leastCents: number) {
  const accounts = await accountsIn(rig.database);
  const cases: Case[] = [];
  for (const customer of customers) {
    const holdings = await rig.control<Holdings>('GET', customer.path('stripe/customers')).catch(() => null);
    cases.push({ customer, holdings, account: accounts.get(customer.phone) });
  }
  const staying = cases.filter(({ customer }) => !customer.left);
  const leaving = cases.filter(({ customer }) => customer.left);
  const findings: Finding[] = [
    await checkCases('plan in the database equals Stripe', staying, (each) => planDiffers(each, rig.tiers)),
    await checkCases('week in the database is the last paid one', staying, weekDiffers),
    await checkCases('one live subscription at most', staying, ({ customer, holdings }) =>
      holdings && liveIn(holdings).length > 1 ? `${customer.phone} pays twice` : null,
    ),
    await checkCases('no week is charged twice', cases, chargedTwice),
    await checkCases('no message beyond the allowances of paid weeks', staying, grantedUnpaid),
    await checkCases(`nobody's message costs less than ${leastCents.toFixed(2)} cents in money`, cases, (each) => {
      const { cents, messages } = paidBy(each);
      return cents >= leastCents * messages ? null : `${each.customer.phone} paid ${cents} cents for ${messages}`;
    }),
    await checkCases('nothing left of those who have left', leaving, leftBehind),
  ];
  return { findings, income: incomeOf(cases.map(paidBy)) };
}

function incomeOf(payers: { cents: number; messages: number }[]): Income {
  const [cents, messages] = [total(payers.map((each) => each.cents)), total(payers.map((each) => each.messages))];
  const prices = payers.filter((each) => each.messages > 0).map((each) => each.cents / each.messages);
  return { cents, messages, leastCents: Math.min(...prices) };
}

function paidBy({ customer, holdings }: Case): { cents: number; messages: number } {
  const { invoices = [] } = holdings ?? {};
  const paid = new Set(paidWeeks(invoices).map(({ start }) => start * 1000 + weekMs));
  const counts = [...customer.allowed].filter(([resetsAt]) => paid.has(Date.parse(resetsAt))).map(([, count]) => count);
  return { cents: total(invoices.map(({ amount_paid: cents }) => cents)), messages: total(counts) };
}

const total = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0);

function planDiffers({ customer, holdings, account }: Case, tiers: Map<string, string>): string | null {
  if (!account) return `${customer.phone} has no account`;
  const expected = JSON.stringify(holdings ? standingAt(holdings, tiers) : free);
  const { tier, subscription_status: status, renewal_at, cancel_at, scheduled_tier } = account;
  const found = JSON.stringify({
    tier,
    status,
    renewalAt: renewal_at,
    cancelAt: cancel_at,
    scheduledTier: scheduled_tier,
  });
  return found === expected ? null : `${customer.phone}: Stripe ${expected}, database ${found}`;
}

function weekDiffers({ customer, holdings, account }: Case): string | null {
  const [subscription] = holdings ? liveIn(holdings) : [];
  if (!subscription || !account || subscription.status === 'trialing') return null;
  const paid = paidWeeks(holdings!.invoices).filter((week) => week.subscription === subscription.id);
  if (paid.length === 0) return account.week_frozen === 0 ? null : `${customer.phone}: never paid, and frozen`;
  const start = Math.max(...paid.map((week) => week.start));
  const holds = subscription.status === 'unpaid' || (account.week_anchor === start * 1000 && account.week_frozen === 1);
  return holds
    ? null
    : `${customer.phone}: ${subscription.status}, paid from ${start}, database ${account.week_anchor}`;
}

function chargedTwice({ customer, holdings }: Case): string | null {
  const weeks = paidWeeks(holdings?.invoices ?? []).map(({ subscription, start }) => `${subscription} ${start}`);
  return new Set(weeks).size === weeks.length ? null : `${customer.phone} paid twice for one week`;
}

/** Messages need a paid week. Our clock does not advance, so the free week restarts each time a subscription ends. */
function grantedUnpaid({ customer, holdings }: Case): string | null {
  const { invoices = [], subscriptions = [] } = holdings ?? {};
  const paid = new Set(paidWeeks(invoices).map(({ start }) => start * 1000));
  const free = planOf('free').messageLimit! * (subscriptions.length + 1);
  for (const [resetsAt, count] of customer.allowed) {
    const start = Date.parse(resetsAt) - weekMs;
    const limit = paid.has(start) ? planOf('platinum').messageLimit! : free;
    if (count > limit) return `${customer.phone}: ${count} messages in the week until ${resetsAt}`;
  }
  return null;
}

function leftBehind({ customer, holdings, account }: Case): string | null {
  if (account) return `${customer.phone} has left and has an account`;
  if (!holdings) return null;
  // Stripe keeps the draft of an ended subscription, but never finalizes it by itself.
  const charging = holdings.invoices.filter(
    ({ status, auto_advance: advances }) => status === 'open' || (status === 'draft' && advances),
  );
  const left = [
    ...liveIn(holdings).map(({ id, status }) => `${id} is ${status}`),
    ...charging.map(({ id, status }) => `${id} is ${status}`),
    ...(holdings.customer.deleted ? [] : ['the customer exists']),
  ];
  return left.length > 0 ? `${customer.phone} has left, and at Stripe ${left.join(', ')}` : null;
}

/** The whole weeks that were paid for, also by way of a credit for a paid week. */
function paidWeeks(invoices: Invoice[]) {
  return weeksOf(settledIn(invoices));
}

function weeksOf(invoices: Invoice[]) {
  return invoices.flatMap(({ lines }) =>
    lines.data.flatMap(({ amount, parent: { subscription_item_details: details }, period }) =>
      details && !details.proration && amount > 0 ? [{ subscription: details.subscription, start: period.start }] : [],
    ),
  );
}
