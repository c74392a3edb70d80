import type { AdviceName } from '../support/advice.ts';

/**
 * An event that somebody must act on: each line of level
 * `error` that the Worker writes, and what else needs a person.
 */
export type Duty = {
  event: string;
  who: 'the owner' | 'the author of the bot' | 'the person';
  alert: string;
  /** Null for what concerns no single account. */
  advice: AdviceName | null;
  person: string;
};

const nothing = 'nothing: it is tried again by itself';
const outage = 'that something went wrong, or that the service is unavailable, and to try again';

type Rest = Omit<Duty, 'event'>;

const duties: Record<string, Rest> = {
  settings_invalid: owner('Settings are invalid', null, outage),
  database_refused: owner('The database refuses us', null, outage),
  row_not_bound: owner('The database was changed by hand', null, outage),
  number_contested: owner(
    'A number may have a new owner',
    'conflict',
    'that the number may have a new owner, and the way to the support',
  ),
  request_failed: owner('Unexpected error', null, outage),
  task_failed: owner('Scheduled tasks fail', null, nothing),
  background_failed: owner('Work waits', null, nothing),
  live_object_unreachable: owner('Work waits', null, 'that the page connects again'),
  retention_postponed: owner('Work waits', null, nothing),
  referral_postponed: owner('Work waits', null, nothing),
  chat_erasure_failed: owner('Work waits', null, 'an empty conversation: only its copy waits'),
  unused_account_kept: owner('Work waits', null, nothing),
  conversation_restarted: owner('Work waits', null, 'an empty conversation'),
  chat_key_unusable: owner('A conversation has no key', null, outage),

  whatsapp_forbidden: owner(
    'WhatsApp refuses us',
    null,
    'that codes cannot be sent at the moment, and the address of the support',
  ),
  whatsapp_refused: owner('Codes are refused', null, 'that the server has an error, and to retry'),
  template_missing: owner('A template is missing', null, 'the code in another language'),
  whatsapp_undelivered: person(
    'Codes do not arrive',
    'limited',
    'at sign-in: that WhatsApp could not deliver the code, and what helps',
  ),
  code_budget_low: owner('Codes do not arrive', null, 'nothing'),
  code_budget_spent: owner('The code budget is spent', null, 'that the server has an error'),
  wrong_codes_budget_spent: owner('Codes are guessed', null, 'that the code is not valid'),
  code_wrong: owner('Many codes are wrong', 'limited', 'that the code is not valid'),

  // The line that is missing: Stripe's calls.
  request_completed: owner('Stripe is silent', 'outOfDate', 'a plan that changes a minute later'),
  stripe_refused: owner('Stripe refuses us', 'keyRefused', 'that payments refuse this'),
  stripe_customer_unknown: owner('A customer is not known', 'customerUnknown', outage),
  customer_unclosed: owner('Somebody who left may be charged', null, 'that the account is gone'),
  price_unknown: owner('A customer needs a look', 'untied', 'the plan of before'),
  sync_postponed: owner('A plan is out of date', 'outOfDate', 'the plan of before'),
  subscription_doubled: owner('Somebody pays twice', 'doubled', 'the dearer plan'),
  trial_plan_refused: owner(
    'A plan after a trial is refused',
    'planRefused',
    'that the card is saved and the plan could not be booked, with a way to the plans',
  ),
  payment_disputed: owner('A payment is disputed', 'disputed', 'the free plan, unless kept'),
  payment_refunded: owner('A refund ends nothing', 'refunded', 'a plan that renews'),
  withdrawal_needs_owner: owner(
    'A withdrawal needs a person',
    'withdrawalLeft',
    'that it is received',
  ),
  withdrawal_overdue: owner(
    'A withdrawal waits for three days',
    'withdrawing',
    'that it is received',
  ),
  withdrawal_postponed: owner('Work waits', null, 'that it is received'),

  mail_refused: owner('Mails are refused', null, 'the receipt on the page and by the bot'),
  receipt_not_mailed: owner(
    'A receipt was not mailed',
    null,
    'the receipt on the page and by the bot',
  ),
  receipt_mail_waits: owner(
    'Receipts wait',
    null,
    'when the mail goes, and the receipt on the page as a file',
  ),

  bot_refused: bot('The clock of the bot is wrong', null, 'no reply'),
  outbox_parked: bot('A deletion did not reach the bot', 'parked', 'nothing'),
  notice_refused: owner('Notices are refused', null, 'no notice of a reply'),
  notice_failed: owner('Work waits', null, 'no notice of a reply'),
};

function owner(alert: string, advice: AdviceName | null, seen: string): Rest {
  return {
    who: 'the owner',
    alert,
    advice,
    person: seen,
  };
}

function bot(alert: string, advice: AdviceName | null, seen: string): Rest {
  return {
    who: 'the author of the bot',
    alert,
    advice,
    person: seen,
  };
}

function person(alert: string, advice: AdviceName | null, seen: string): Rest {
  return {
    who: 'the person',
    alert,
    advice,
    person: seen,
  };
}

export const whoMustAct: Duty[] = Object.entries(duties).map(([event, rest]) => ({
  event,
  ...rest,
}));
