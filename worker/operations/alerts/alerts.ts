import { advice } from '../support/advice.ts';
import { logEvents } from './log-events.ts';
import { type Duty, whoMustAct } from './who-must-act.ts';

const urgencies = ['now', 'same day', 'look'] as const;
type Urgency = (typeof urgencies)[number];

type AlertRow = {
  when: string;
  urgency: Urgency;
  meaning: string;
};

export type Alert = AlertRow & {
  name: string;
  /**
   * A LogQL metric query that is above `threshold`;
   * `LOGS` stands for the parsed lines of the Worker.
   */
  query: string;
  threshold: number;
  forMinutes: number;
};

/**
 * Each is tried again by itself; one that repeats
 * is a defect, or an outage of somebody else.
 */
const waiting =
  'background_failed|live_object_unreachable|retention_postponed|referral_postponed|chat_erasure_failed|unused_account_kept|conversation_restarted|withdrawal_postponed|notice_failed';

const counted = (filter: string, window: string, offset = '') =>
  `sum(count_over_time(LOGS | ${filter} [${window}]${offset})) or vector(0)`;
const calls = 'event=~"request_completed|request_failed"';
const usage = 'event="request_completed" | route="/api/bot/usage"';
const stripe = 'event="request_completed" | route="/api/webhooks/stripe" | status=200';
const any = (event: string) => ({
  query: counted(`event="${event}"`, '5m'),
  threshold: 0,
  forMinutes: 0,
});

export const alerts: Alert[] = [
  {
    name: 'Settings are invalid',
    when: 'any `settings_invalid`',
    urgency: 'now',
    meaning: 'all calls, or those of one feature, return 503: run `npm run doctor`',
    ...any('settings_invalid'),
  },
  {
    name: 'The database refuses us',
    when: 'any `database_refused`',
    urgency: 'now',
    meaning:
      'calls return 503: `reason` says why, else check `TURSO_AUTH_TOKEN` and `TURSO_DATABASE_URL`',
    ...any('database_refused'),
  },
  {
    name: 'The database was changed by hand',
    when: 'any `row_not_bound`',
    urgency: 'now',
    meaning:
      'a row belongs to another account, and opened nothing: see who holds `TURSO_AUTH_TOKEN`',
    ...any('row_not_bound'),
  },
  {
    name: 'A number may have a new owner',
    when: 'any `number_contested`',
    urgency: 'same day',
    meaning: 'its codes open nothing private until you decide: see [Support](#support)',
    ...any('number_contested'),
  },
  {
    name: 'Stripe refuses us',
    when: 'any `stripe_refused` with `status` 401 or 403',
    urgency: 'now',
    meaning: 'purchases or the portal return 503: run `npm run doctor`',
    query: counted('event="stripe_refused" | status=~"401|403"', '5m'),
    threshold: 0,
    forMinutes: 0,
  },
  {
    name: 'A withdrawal waits for three days',
    when: 'any `withdrawal_overdue`',
    urgency: 'now',
    meaning: 'the law gives 14 days for the money: `npm run support -- withdrawals`',
    ...any('withdrawal_overdue'),
  },
  {
    name: 'Mails are refused',
    when: 'any `mail_refused`',
    urgency: 'same day',
    meaning: 'no receipt goes by e-mail: `MAIL_API_KEY` or `MAIL_FROM`; run `npm run doctor`',
    ...any('mail_refused'),
  },
  {
    name: 'A receipt was not mailed',
    when: 'any `receipt_not_mailed`',
    urgency: 'same day',
    meaning: 'send it by hand: `npm run support -- withdrawals` shows it by `id`',
    ...any('receipt_not_mailed'),
  },
  {
    name: 'Receipts wait',
    when: 'any `receipt_mail_waits`',
    urgency: 'same day',
    meaning: 'see whether somebody floods the form',
    ...any('receipt_mail_waits'),
  },
  {
    name: 'Somebody who left may be charged',
    when: 'any `customer_unclosed`',
    urgency: 'now',
    meaning: '`npm run support -- unclosed` says what to do',
    ...any('customer_unclosed'),
  },
  {
    name: 'Stripe refuses somebody',
    when: 'any `stripe_refused` with another `status` than 401, 403 or 429',
    urgency: 'same day',
    meaning: 'somebody was sent to support: find `requestId` in the log of the Stripe Dashboard',
    query: counted('event="stripe_refused" | status!~"401|403|429"', '5m'),
    threshold: 0,
    forMinutes: 0,
  },
  {
    name: 'Stripe limits our rate',
    when: 'more than 10 `stripe_refused` with `status` 429 in five minutes',
    urgency: 'same day',
    meaning: 'purchases and deletions return 503: ask Stripe for a higher limit',
    query: counted('event="stripe_refused" | status="429"', '5m'),
    threshold: 10,
    forMinutes: 0,
  },
  {
    name: 'Calls fail',
    when: '`status` of 500 and above in more than 1 of 100 requests over five minutes',
    urgency: 'now',
    meaning: 'users see errors',
    query: `sum(count_over_time(LOGS | ${calls} | status>=500 [5m])) / sum(count_over_time(LOGS | ${calls} [5m]))`,
    threshold: 0.01,
    forMinutes: 5,
  },
  {
    name: 'The bot is silent',
    when: 'no call of `/api/bot/usage` for 30 minutes, and more than 10 in these 30 minutes of the day before',
    urgency: 'now',
    meaning: 'nobody gets replies on WhatsApp',
    query: `(${counted(usage, '30m', ' offset 1d')}) * ((${counted(usage, '30m')}) == bool 0)`,
    threshold: 10,
    forMinutes: 0,
  },
  {
    name: 'Stripe is silent',
    when: 'no call of `/api/webhooks/stripe` with `status` 200 for a day, and more than 10 in the day before',
    urgency: 'same day',
    meaning:
      'plans follow late: run `npm run doctor`, and look at the webhook in the Stripe Dashboard',
    query: `(${counted(stripe, '1440m', ' offset 1d')}) * ((${counted(stripe, '1440m')}) == bool 0)`,
    threshold: 10,
    forMinutes: 0,
  },
  {
    name: 'WhatsApp refuses us',
    when: 'any `whatsapp_forbidden`',
    urgency: 'now',
    meaning:
      'nobody gets a code: `WHATSAPP_TOKEN`, its permissions or the account; run `npm run doctor`',
    ...any('whatsapp_forbidden'),
  },
  {
    name: 'Notices are refused',
    when: 'more than 5 `notice_refused` with `status` 400, 401 or 403 in five minutes',
    urgency: 'same day',
    meaning: 'replies are not announced: check `VAPID_KEYS`',
    query: counted('event="notice_refused" | status=~"400|401|403"', '5m'),
    threshold: 5,
    forMinutes: 0,
  },
  {
    name: 'Codes are refused',
    when: 'more than 5 `whatsapp_refused` in five minutes',
    urgency: 'now',
    meaning: 'nobody can sign in by WhatsApp',
    query: counted('event="whatsapp_refused"', '5m'),
    threshold: 5,
    forMinutes: 0,
  },
  {
    name: 'The code budget is spent',
    when: 'any `code_budget_spent`',
    urgency: 'now',
    meaning: 'an attack, or a very good day: see who asks for codes',
    ...any('code_budget_spent'),
  },
  {
    name: 'Codes are guessed',
    when: 'any `wrong_codes_budget_spent`',
    urgency: 'now',
    meaning: 'somebody guesses codes over many numbers: see which numbers and addresses they try',
    ...any('wrong_codes_budget_spent'),
  },
  {
    name: 'A deletion did not reach the bot',
    when: 'any `outbox_parked` of level error',
    urgency: 'same day',
    meaning: 'the bot still holds the history of a deleted user',
    query: counted('event="outbox_parked" | level="error"', '5m'),
    threshold: 0,
    forMinutes: 0,
  },
  {
    name: 'Codes do not arrive',
    when: 'any `code_budget_low`, or more than 5 `whatsapp_undelivered` in five minutes',
    urgency: 'same day',
    meaning: 'codes run low, or WhatsApp does not deliver them',
    query: `(${counted('event="code_budget_low"', '5m')}) * 6 + (${counted('event="whatsapp_undelivered"', '5m')})`,
    threshold: 5,
    forMinutes: 0,
  },
  {
    name: 'A template is missing',
    when: 'any `template_missing`',
    urgency: 'same day',
    meaning: 'codes arrive in another language: let WhatsApp approve the template in `language`',
    ...any('template_missing'),
  },
  {
    name: 'The clock of the bot is wrong',
    when: 'any `bot_refused` with the `reason` `time`',
    urgency: 'now',
    meaning:
      'its calls are signed rightly and refused: set its clock, which is `secondsOff` from ours',
    query: counted('event="bot_refused" | reason="time"', '5m'),
    threshold: 0,
    forMinutes: 0,
  },
  {
    name: 'The secret of the bot is wrong',
    when: 'more than 20 `bot_refused` with the `reason` `signature` in five minutes',
    urgency: 'same day',
    meaning: 'the bot has another `BOT_WEBHOOK_SECRET`, or a stranger tries',
    query: counted('event="bot_refused" | reason="signature"', '5m'),
    threshold: 20,
    forMinutes: 0,
  },
  {
    name: 'A plan after a trial is refused',
    when: 'any `trial_plan_refused`',
    urgency: 'same day',
    meaning: 'the person falls to the free plan when the trial ends: ask them to choose again',
    ...any('trial_plan_refused'),
  },
  {
    name: 'A refund ends nothing',
    when: 'any `payment_refunded` of level error',
    urgency: 'same day',
    meaning: 'the subscription goes on, and charges again: cancel it at Stripe if it should end',
    query: counted('event="payment_refunded" | level="error"', '5m'),
    threshold: 0,
    forMinutes: 0,
  },
  {
    name: 'A customer is not known',
    when: 'any `stripe_customer_unknown`',
    urgency: 'same day',
    meaning: 'nobody of another Stripe account can buy: check `STRIPE_SECRET_KEY`',
    ...any('stripe_customer_unknown'),
  },
  {
    name: 'A customer needs a look',
    when: 'any `price_unknown`',
    urgency: 'same day',
    meaning: 'mend `customer` in the Stripe Dashboard: `npm run alerts -- events` says how',
    ...any('price_unknown'),
  },
  {
    name: 'Work waits',
    when: 'more than 5 in an hour of what is tried again by itself',
    urgency: 'look',
    meaning: '`npm run alerts -- events` says more; see the status pages of Cloudflare and Turso',
    query: counted(`event=~"${waiting}"`, '60m'),
    threshold: 5,
    forMinutes: 0,
  },
  {
    name: 'Somebody pays twice',
    when: 'any `subscription_doubled`',
    urgency: 'same day',
    meaning: 'cancel and refund one subscription at Stripe',
    ...any('subscription_doubled'),
  },
  {
    name: 'A withdrawal needs a person',
    when: 'any `withdrawal_needs_owner`',
    urgency: 'same day',
    meaning: '`reason` says why: `npm run support -- withdrawals` and the runbook',
    ...any('withdrawal_needs_owner'),
  },
  {
    name: 'A payment is disputed',
    when: 'any `payment_disputed`',
    urgency: 'same day',
    meaning: 'answer the dispute in the Stripe Dashboard before its deadline',
    ...any('payment_disputed'),
  },
  {
    name: 'A conversation has no key',
    when: 'any `chat_key_unusable`',
    urgency: 'now',
    meaning: 'put the missing key back into CHAT_KEYS',
    ...any('chat_key_unusable'),
  },
  {
    name: 'Unexpected error',
    when: 'any `request_failed`',
    urgency: 'same day',
    meaning: 'a defect: `unexpected` says where',
    query: counted('event="request_failed"', '5m'),
    threshold: 0,
    forMinutes: 0,
  },
  {
    name: 'Scheduled tasks fail',
    when: 'more than 2 `task_failed` in five minutes, or more than 10 `sync_postponed` in 15',
    urgency: 'same day',
    meaning: 'Stripe, the database or the bot does not respond',
    query: `(${counted('event="task_failed"', '5m')}) + (${counted('event="sync_postponed"', '15m')}) / 5`,
    threshold: 2,
    forMinutes: 0,
  },
  {
    name: 'An hourly task fails',
    when: 'more than 1 `task_failed` of `reviewDisputes`, `reviewAccounts` or `rewrapChatKeys` in two hours',
    urgency: 'same day',
    meaning: 'disputes, unused accounts or keys wait: look at `error` and `at`',
    query: counted(
      'event="task_failed" | task=~"reviewDisputes|reviewAccounts|rewrapChatKeys"',
      '125m',
    ),
    threshold: 1,
    forMinutes: 0,
  },
  {
    name: 'A plan is out of date',
    when: 'any `sync_postponed` with `failures` of 6 and above, ten minutes after the first',
    urgency: 'same day',
    meaning: 'what a customer bought or canceled is not known: `npm run alerts -- events` says how',
    query: counted('event="sync_postponed" | failures>=6', '15m'),
    threshold: 0,
    forMinutes: 0,
  },
  {
    name: 'Many calls are limited',
    when: '`code = rate_limited` in more than 1 of 10 requests over 15 minutes',
    urgency: 'look',
    meaning: 'somebody is trying numbers',
    query: `sum(count_over_time(LOGS | code="rate_limited" [15m])) / sum(count_over_time(LOGS | event="request_completed" [15m]))`,
    threshold: 0.1,
    forMinutes: 15,
  },
  {
    name: 'Many codes are wrong',
    when: 'more than 200 `code_wrong` in an hour',
    urgency: 'look',
    meaning: 'somebody may be guessing over many numbers',
    query: counted('event="code_wrong"', '60m'),
    threshold: 200,
    forMinutes: 0,
  },
  {
    name: 'The database is slow',
    when: 'the 95th percentile of `ms` above 500 for `databaseRequests = 1`',
    urgency: 'look',
    meaning: 'look at the status page of Turso',
    query: `quantile_over_time(0.95, LOGS | event="request_completed" | databaseRequests="1" | unwrap ms [15m]) by ()`,
    threshold: 500,
    forMinutes: 15,
  },
];

const dutyHead = [
  'event',
  'who must act',
  'alarm',
  'rings',
  '`support find` says',
  'the person sees',
];

function dutyRow({ event, who, alert, advice: name, person }: Duty): string[] {
  const rule = alerts.find((each) => each.name === alert);
  if (!rule) throw new Error(`${event} has no alarm: there is no alert "${alert}"`);
  const said = name ? advice[name] : 'nothing: it concerns no single account';
  return [`\`${event}\``, who, `${alert}: ${rule.meaning}`, rule.urgency, said, person];
}

export function dutyTable(): string {
  return tableOf([dutyHead, ...whoMustAct.map(dutyRow)]);
}

export function eventPage(only?: string): string {
  const events = Object.entries(logEvents).filter(([event]) => !only || event === only);
  const paragraphs = events.map(([event, { levels, fields, meaning }]) => {
    const duty = whoMustAct.find((each) => each.event === event);
    const acts = duty ? dutyRow(duty).map((cell, index) => `${dutyHead[index]}: ${cell}`) : [];
    const fieldNames = fields.length > 0 ? `fields: ${fields.join(', ')}` : 'no fields';
    return [
      `${event} (${levels.join(', ')})`,
      ...[meaning, fieldNames, ...acts.slice(1)].map((line) => `  ${line}`),
    ].join('\n');
  });
  return paragraphs.join('\n\n');
}

const outside: AlertRow[] = [
  {
    when: '`https://solace.example/api/health` fails twice in a row',
    urgency: 'now',
    meaning: 'nothing works: see [Go back](#go-back)',
  },
  {
    when: '`untold` of the five questions above 100, or `most_attempts` above 10',
    urgency: 'same day',
    meaning: 'the bot does not accept events',
  },
];

export function alertList(): string {
  const all: AlertRow[] = [...outside, ...alerts];
  const groups = urgencies.map((urgency) => {
    const rows = all.filter((row) => row.urgency === urgency);
    return [`**${urgency}**`, '', ...rows.map(({ when, meaning }) => `- ${when}: ${meaning}`)];
  });
  return groups.map((lines) => lines.join('\n')).join('\n\n');
}

function tableOf(cells: string[][]): string {
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  const [head, ...body] = cells.map(line);
  return [head, rule, ...body].join('\n');
}
