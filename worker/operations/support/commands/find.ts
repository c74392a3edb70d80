import { advise } from '../advise.ts';
import { describePayments, type Payments } from '../describe-payments.ts';
import { describeUser, type UserDescription } from '../describe-user.ts';
import { findUser } from '../find-user.ts';
import type { SupportCommand } from '../support-command.ts';

/** Shows a user's account, plan, week, limits, events and payments, and what to do next; never the conversation. */
export const find: SupportCommand = {
  usage: 'find NUMBER',
  about: 'account, plan, week, limits, sessions, events, disputes and refunds; never the conversation',
  async run({ words, db, settings }) {
    const user = await findUser(db, words[0]);
    const found = await describeUser({ db, settings }, user, Date.now());
    const payments = await describePayments(settings, found.customer?.stripeId ?? null);
    const advice = advise(found, payments);
    return { data: { ...found, payments, advice }, text: textOf(found, payments, advice) };
  },
};

function textOf(found: UserDescription, payments: Payments, advice: string[]): string {
  const { account, plan, week, limits, sessions, eventsForTheBot, lastBotCalls, customer } = found;
  const limit = week.limit === -1 ? 'unlimited' : `${week.limit}`;
  const lines = {
    Account: `${account.phone}, ${account.status}, platform ${account.platform}, opened ${date(account.createdAt)}`,
    'Last seen': `on the site ${date(account.lastSeenAt)}, message to the assistant ${date(account.lastContactAt)}`,
    Chat: account.chat.consentAt
      ? `consent ${account.chat.consentVersion} of ${date(account.chat.consentAt)}`
      : 'no consent',
    Plan: `${plan.tier}; subscription ${plan.subscription}, ${plan.subscriptionStatus}`,
    Dates: `renews ${date(plan.renewalAt)}, ends ${date(plan.cancelAt)}, then ${plan.scheduledTier ?? 'the same plan'}`,
    Trial: plan.trial ? `${plan.trial.tier} until ${date(plan.trial.endsAt)}` : 'none',
    Week: `${week.used} of ${limit} messages, next week ${week.frozen ? 'after the overdue payment' : date(week.resetsAt)}`,
    Limits:
      limits.nextCodeAt || limits.nextTryAt
        ? `next code ${date(limits.nextCodeAt)}, next try ${date(limits.nextTryAt)}`
        : 'none',
    Sessions:
      sessions.map(({ createdAt, lastSeenAt }) => `from ${date(createdAt)}, seen ${date(lastSeenAt)}`).join('; ') ||
      'none',
    'Events for the bot':
      eventsForTheBot.map(({ seq, type, parkedAt }) => `${seq} ${type} ${parkedAt ? 'parked' : 'waits'}`).join('; ') ||
      'none',
    'Messages counted':
      lastBotCalls.map(({ at, allowed }) => `${date(at)}${allowed === false ? ' refused' : ''}`).join('; ') || 'none',
    Stripe: customer
      ? `${customer.stripeId ?? 'no customer'}, fetched ${date(customer.syncedAt || null)}`
      : 'never sent there',
    ...paymentLines(payments),
  };
  const body = Object.entries(lines).map(([name, value]) => `${`${name}:`.padEnd(22)}${value}`);
  return [...body, '', ...(advice.length > 0 ? advice : ['Nothing stands in the way of this user.'])].join('\n');
}

function paymentLines(payments: Payments): Record<string, string> {
  if (payments.state !== 'known') return { Payments: payments.state };
  const { subscriptions, returned } = payments;
  const money = (amount: number, currency: string) => `${(amount / 100).toFixed(2)} ${currency.toUpperCase()}`;
  const payment = (each: (typeof returned)[number]) =>
    `${each.charge} ${date(each.at)}: ${money(each.refunded, each.currency)} of ${money(each.amount, each.currency)} refunded${each.disputes.map((status) => `, dispute ${status}`).join('')}`;
  return {
    Subscriptions: subscriptions.map(({ id, status }) => `${id} ${status}`).join('; ') || 'none',
    'Disputes and refunds': returned.map(payment).join('; ') || 'none',
  };
}

function date(instant: number | null): string {
  return instant === null ? 'never' : `${new Date(instant).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
