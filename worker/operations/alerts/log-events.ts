/**
 * Every event of the log, with what it means and what to do.
 * A line is one JSON object with `level`, `event` and `fields`.
 *
 * No line has a phone number, token, code, query string or body.
 * `phone` is a keyed hash of eight characters. `customer`, `dispute`,
 * `charge`, `session` and `price` are ids of Stripe. `error` is the
 * name of an error, `at` its place in the code, `code` its code.
 */
export type LogEvent = {
  levels: string[];
  fields: string[];
  meaning: string;
};

export const logEvents: Record<string, LogEvent> = {
  request_completed: line(
    'info',
    'requestId method route status ms databaseRequests outcome phone code',
    "One request. `requestId` is the response's `x-request-id`, `ms` the time until the",
    'response began, `databaseRequests` what it cost until then, `outcome` what its last',
    'transaction decided, `code` the code of a refusal.',
  ),
  request_failed: line(
    'error',
    'requestId method route status ms databaseRequests outcome phone code unexpected',
    'An unexpected error, responded to with 500. It is a defect: `unexpected` has `error`,',
    '`code` and `at`.',
  ),
  settings_invalid: line(
    'error',
    'settings',
    'The settings named in `settings` are missing or malformed. Without `SITE_URL`,',
    '`TURSO_DATABASE_URL`, `TURSO_AUTH_TOKEN`, `SESSION_KEYS` or `CODE_PEPPER` every call',
    'responds 503; any other one turns off its own feature. Run `npm run doctor`.',
  ),
  database_refused: line(
    'error',
    'status code reason',
    'The database responded with the HTTP `status` instead of a result, or with the error',
    '`code` inside its 200; `reason` says what it is. 401 is `TURSO_AUTH_TOKEN`, 404 a',
    "database that is gone, `BLOCKED` a limit or a bill of Turso's plan. The call responded",
    'with 503.',
  ),
  database_unavailable: line(
    'info',
    'error code at',
    'The database was busy, failed with the HTTP status or the error `code`, or did not',
    'respond within 8 s (`TimeoutError`). The call responded with 503. Many of them are an',
    'outage: see the status page of Turso.',
  ),
  limiter_failed: line(
    'info',
    'error code at',
    'A rate limiter of Cloudflare failed. The call went on, since the database has the exact',
    'limits. If it repeats, see the status page of Cloudflare.',
  ),
  stripe_refused: line(
    'error',
    'status type code requestId',
    "Stripe refused a call with the HTTP `status`; `type` and `code` are Stripe's, and",
    "`requestId` finds the request in the Dashboard's log. 401 is `STRIPE_SECRET_KEY`, 403 a",
    'permission that a restricted key lacks, 429 too many calls: the call responded with 503.',
    'Any other one is a refusal of this customer or object, for',
    'good: the call responded with 409 `payment_refused`, and the person is sent to support.',
    'A `code` that begins with `parameter` is a defect. Run `npm run doctor`.',
  ),
  customer_unclosed: line(
    'error',
    'customer action',
    'Somebody deleted the account, and Stripe refused to end what could charge them, or',
    'does not know `customer`. The cron job tries again once a day until Stripe confirms, or',
    'you do: `npm run support -- unclosed` lists them and says how.',
  ),
  task_failed: line(
    'error',
    'task error code at',
    "The cron job's `task` failed. The next minute tries again, or the next hour for",
    '`reviewDisputes`, `reviewAccounts` and `rewrapChatKeys`. If it repeats, look at `error`',
    'and `at`.',
  ),
  bot_refused: line(
    'info error',
    'reason secondsOff',
    'A call of the bot was refused. `reason` `signature`: another secret signed it, or a',
    'stranger sent it. `reason` `time`, of level error: it is signed rightly, and its time is',
    '`secondsOff` from ours. Set the clock of the bot.',
  ),
  background_failed: line(
    'error',
    'requestId error code at',
    'Work after the response of `requestId`, or after a task of the cron job, failed. The',
    'cron job repeats what it left. If it repeats, look at `at`.',
  ),
  whatsapp_refused: line(
    'error',
    'status code',
    "WhatsApp did not accept a code. `status` is HTTP's, `code` Meta's: 132001 is the",
    'template, 131026 the number, 130429 too fast. The limits do not count this code, so the',
    'user can ask again.',
  ),
  whatsapp_forbidden: line(
    'error',
    'status code',
    "WhatsApp refuses our token, permission, payment, number or account: 401, 403, or Meta's",
    '`code`, as 190 or 131042. Nobody gets a code. The call responded with 503',
    '`codes_unavailable`, or a status told it later. Run `npm run doctor`.',
  ),
  template_missing: line(
    'error',
    'language code',
    'WhatsApp has no approved template in a language of `WHATSAPP_TEMPLATE_LANGUAGE`, so the',
    "code was sent in the first one. Meta's `code`: 132001 is a template that is missing or",
    'not approved, 132015 a paused one, 132016 a disabled one. Look at it in WhatsApp',
    'Manager.',
  ),
  whatsapp_undelivered: line(
    'info',
    'phone code',
    "WhatsApp accepted a code and did not deliver it. Meta's `code`: 131026 is a number",
    "without WhatsApp or one that blocked us, 131049 a limit of Meta's. Needs",
    '`WHATSAPP_APP_SECRET` and `WHATSAPP_VERIFY_TOKEN`.',
  ),
  row_not_bound: line(
    'error',
    'table',
    'A row of `table` does not belong to the number under which it was found: somebody has',
    'changed the database by hand, or put back an older row. It opened nothing. Look at who',
    'holds `TURSO_AUTH_TOKEN`.',
  ),
  number_contested: line(
    'error',
    '',
    'WhatsApp reported a number with another id than its own, for the first time: it may',
    'have a new owner. Its codes open limited sessions until the old id writes again, or you',
    'decide: the runbook says how.',
  ),
  code_budget_low: line(
    'error',
    'sent budget',
    "80 % of the day's codes (`CODE_BUDGET_PER_DAY`) are sent. Look for the addresses that",
    'ask for them.',
  ),
  code_budget_spent: line(
    'error',
    'sent budget',
    "The day's codes are sent. Until midnight UTC, only people who wrote within ten minutes",
    'get one, until twice the budget is sent. See who asks for codes; raise',
    '`CODE_BUDGET_PER_DAY` if they are real users.',
  ),
  code_wrong: line(
    'info',
    'wrong withChallenge',
    "Somebody typed a wrong code, the day's `wrong`th of all numbers. `withChallenge` says",
    'that the same caller had asked for the code.',
  ),
  wrong_codes_budget_spent: line(
    'error',
    'wrong budget',
    'So many wrong codes were typed today (`WRONG_TRIES_BUDGET_PER_DAY`): somebody guesses',
    'over many numbers. Until midnight UTC a code without a challenge is refused; the site',
    'always sends one. Look at the `phone` and `ms` of `request_completed` with `outcome`',
    'wrong.',
  ),
  sync_postponed: line(
    'error',
    'failures error code at',
    'Stripe did not respond, or refused, `failures` times in a row for a customer. The cron',
    'job fetches the state again, after growing pauses of up to 6 hours. If it lasts, run',
    "`npm run doctor` and look at Stripe's status page.",
  ),
  stripe_customer_unknown: line(
    'error',
    'customer action',
    'Stripe does not know a customer. The plan stays, and purchase, portal and',
    'cancellation respond 503; a deletion leaves `customer_unclosed`. Check that `STRIPE_SECRET_KEY` is of the account in which the customer was',
    'created.',
  ),
  price_unknown: line(
    'error',
    'customer price action',
    'A live subscription has a price without a plan. Whoever had a plan keeps it. Set the',
    'metadata `tier` of the price, or cancel the subscription.',
  ),
  subscription_doubled: line(
    'error',
    'customer action',
    'A customer has two live subscriptions. Cancel and refund one of them at Stripe.',
  ),
  trial_plan_refused: line(
    'error',
    'session reason phone action',
    'The plan after a trial does not start, for the `reason` given. The person is free, and',
    'may buy again.',
  ),
  withdrawal_needs_owner: line(
    'error',
    'id reason action',
    'A withdrawal cannot be finished without a person: the bank or Stripe refuses a refund,',
    'or no account or contract fits. `reason` says which. Look at `npm run support --',
    'withdrawals`; the law gives 14 days.',
  ),
  withdrawal_overdue: line(
    'error',
    'statements action',
    'These statements of withdrawal, by their numbers, wait for three days. Reported each',
    'hour. Look at `npm run support -- withdrawals`; the law gives 14 days.',
  ),
  withdrawal_postponed: line(
    'error',
    'id error code at',
    'Stripe or the database did not respond while a withdrawal was settled. The cron job',
    'repeats it.',
  ),
  mail_refused: line(
    'error',
    'status action',
    'The mail service refuses our key or our sender, so no receipt of a withdrawal goes by',
    'e-mail. Check `MAIL_API_KEY` and `MAIL_FROM`: run `npm run doctor`. The cron job goes on',
    'trying for a day.',
  ),
  receipt_not_mailed: line(
    'error',
    'id status action',
    'The receipt of the statement `id` could not be mailed for a day, and nothing more is',
    'tried. Send it by hand: `npm run support -- withdrawals show SEQ` has it.',
  ),
  receipt_mail_waits: line(
    'error',
    'budget until action',
    'Strangers have made so many statements that a receipt waits until `until`: of networks with',
    'at most three mails a day (`few`, 3,000 a day) or of others (`many`, 300). The page says when',
    'it goes. Look at `npm run support -- withdrawals`, and block who floods the form.',
  ),
  receipt_refused: line(
    'info',
    'id status',
    'The mail service refuses the address of the statement `id` for good, as of one that',
    'nobody has. Its person has the receipt on the page.',
  ),
  payment_disputed: line(
    'error',
    'customer dispute status action',
    'A bank disputed a payment, logged once for each dispute, and once before if it began as',
    'an inquiry; `action` is what the Worker did. With `ON_DISPUTE=cancel` the subscription',
    'that it paid for has ended. Answer the dispute in the Stripe Dashboard, or accept it.',
  ),
  payment_refunded: line(
    'info error',
    'customer charge amount refunded',
    'A payment was refunded: `refunded` of `amount`, in cents. It ends nothing: level error',
    'if the subscription goes on, so cancel it at Stripe if it should end.',
  ),
  live_object_unreachable: line(
    'error',
    'status',
    "A user's Durable Object did not respond. Streams that open get 503 and reconnect. If it",
    "lasts, look at Cloudflare's status page.",
  ),
  live_socket_lost: line(
    'info',
    '',
    "A stream's connection to its Durable Object was dead. The stream ended, and the page",
    'reconnects.',
  ),
  retention_postponed: line(
    'error',
    'error code at',
    'A live object could not remove old messages, since a setting is wrong. It tries again a',
    'day later; see `settings_invalid`.',
  ),
  outbox_parked: line(
    'info error',
    'type seq reason phone',
    'The bot refused an event for good (`reason` `refused`), a day passed (`expired`), or the',
    'number of the account is none of its names (`unbound`, with `row_not_bound`). `seq`',
    'names its row. Level error for `user.deleted`: the bot still holds the history of',
    'somebody who left. Repair the bot, then run `npm run support -- outbox retry SEQ`.',
  ),
  chat_key_unusable: line(
    'error',
    'keyId conversations',
    '`CHAT_KEYS` has no key that opens a conversation. `keyId` names the missing one: put it',
    'back. The hourly job writes `conversations` instead, the number of those that it could',
    'not open.',
  ),
  chat_keys_rewrapped: line(
    'info',
    'keys',
    'The hourly job has wrapped so many `keys` by the first of `CHAT_KEYS`.',
  ),
  conversation_restarted: line(
    'error',
    'epoch',
    "A user's row was older than the conversation, which only a restore causes. The",
    'conversation began again, empty.',
  ),
  referral_postponed: line(
    'error',
    'error code at',
    'The referral of a crisis reply could not be counted when it was read. The next read',
    'counts it. If it repeats, look at `error` and `at`.',
  ),
  chat_erasure_failed: line(
    'error',
    'waitingMs',
    'An object did not confirm an erasure for `waitingMs`. The cron job repeats it. If it',
    "lasts, look at Cloudflare's status page.",
  ),
  notice_refused: line(
    'error',
    'status',
    'A push service did not accept a notice of a reply. 401 and 403 are `VAPID_KEYS` or a',
    'subscription of another key, 413 and 400 a defect, 429 too many. After three of 400, 401',
    'or 403 in a day the subscription ends, and the page offers notices again.',
  ),
  notice_failed: line(
    'error',
    'error code at',
    'A push service did not respond, or a notice could not be encrypted. The person sees the',
    'reply on the next visit.',
  ),
  unused_account_deleted: line(
    'info',
    '',
    'Nobody used an account for `ACCOUNT_RETENTION_DAYS`, and its user was told 30 days',
    'before.',
  ),
  unused_account_kept: line(
    'error',
    '',
    'Such an account could not be deleted. The cron job tries again a day later. If it',
    'repeats, run `npm run doctor`: Stripe may not respond.',
  ),
};

function line(levels: string, fields: string, ...meaning: string[]): LogEvent {
  return {
    levels: levels.split(' '),
    fields: fields ? fields.split(' ') : [],
    meaning: meaning.join(' '),
  };
}
