export const advice = {
  pending: 'The account waits for approval: the bot approves it.',
  neverWrote:
    'The number has never written to the assistant: it has to write before it gets a code.',
  limited: 'Sign-in is limited: a message to the assistant clears it, and so does `release`.',
  limitedToday:
    'Nothing clears the limit of all codes in a day: the number waits for its next code.',
  untied: 'Stripe has a subscription and the account has none: run `sync`.',
  customerUnknown:
    'Stripe does not know this customer: check that STRIPE_SECRET_KEY is of the same account.',
  keyRefused: 'Stripe refuses STRIPE_SECRET_KEY, so payments are not shown: run `npm run doctor`.',
  stripeSilent: 'Stripe does not respond: payments are not shown.',
  outOfDate:
    'The state at Stripe could not be fetched, so the plan may be out of date: run `sync`, then look at the log.',
  renamed: 'Stripe has another number for this customer: write the number there by hand.',
  overdue: 'A payment is overdue: the user pays it through `Manage Subscription`.',
  disputed: 'A payment is disputed: answer it in the Stripe Dashboard.',
  disputedAndWithdrawn:
    'A disputed payment is of a contract that was withdrawn: accept the dispute in the Stripe Dashboard, pay nothing beside it, then `withdrawals complete`.',
  withdrawalMayBeObjected:
    'Somebody has withdrawn for this number by the form: the cron job settles it, unless its person objects within two days.',
  withdrawing:
    'A withdrawal is under way: the cron job settles it. If that takes three days, look for its error in the log.',
  withdrawalLeft:
    'A withdrawal is left to you: `withdrawals show` says why, and the runbook what to do.',
  doubled: 'Two subscriptions charge this customer: cancel and refund one of them at Stripe.',
  refunded:
    'A payment was refunded, and the subscription goes on: it is charged again. Cancel it at Stripe if it should end.',
  planRefused:
    'A card is saved, and no plan follows the trial: it may have been refused. Ask the user to choose a plan again.',
  conflict:
    'The number came with an id that is not its own, and may have a new owner: its codes open nothing private. If the old owner has it, a message from their WhatsApp ends this; if they have another number, `move`; if somebody else has it, `new-owner`.',
  spent: 'The messages of this week are spent.',
  parked: 'The bot refused an event of this user: see `outbox`.',
} as const;

export type AdviceName = keyof typeof advice;
