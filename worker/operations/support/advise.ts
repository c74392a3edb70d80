import type { Payments } from './describe-payments.ts';
import type { UserDescription } from './describe-user.ts';

const live = new Set(['active', 'trialing', 'past_due']);

/** The user's problems, each in one sentence with the next step. */
export function advise(
  { account, plan, week, limits, eventsForTheBot }: UserDescription,
  payments: Payments,
): string[] {
  const paying = payments.state === 'known' && payments.subscriptions.some(({ status }) => live.has(status));
  const disputed = payments.state === 'known' && payments.returned.some(({ disputes }) => disputes.length > 0);
  const spent = week.limit !== null && week.limit >= 0 && week.used >= week.limit;
  const advice: [boolean, string][] = [
    [account.status === 'pending', 'The account waits for approval: the bot approves it.'],
    [
      account.contactedAt === null,
      'The number has never written to the assistant: it has to write before it gets a code.',
    ],
    [
      limits.nextCodeAt !== null || limits.nextTryAt !== null,
      'Sign-in is limited: a message to the assistant clears it, and so does `release`.',
    ],
    [paying && plan.subscription === 'free', 'Stripe has a subscription and the account has none: run `sync`.'],
    [
      payments.state === 'unknown customer',
      'Stripe does not know this customer: check that STRIPE_SECRET_KEY is of the same account.',
    ],
    [payments.state === 'Stripe does not respond', 'Stripe does not respond: payments are not shown.'],
    [plan.subscriptionStatus === 'past_due', 'A payment is overdue: the user pays it through `Manage Subscription`.'],
    [disputed, 'A payment is disputed: answer it in the Stripe Dashboard.'],
    [spent, 'The messages of this week are spent.'],
    [eventsForTheBot.some(({ parkedAt }) => parkedAt !== null), 'The bot refused an event of this user: see `outbox`.'],
  ];
  return advice.flatMap(([applies, sentence]) => (applies ? [sentence] : []));
}
