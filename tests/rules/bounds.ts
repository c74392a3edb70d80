/**
 * What each call and each table lets grow, for whom, and up to where.
 * A name in capitals is a setting; `worker/setting-rules.ts` has its value.
 *
 * Requests of the bot and of webhooks are verified before anything is
 * stored. Bodies are bounded by `worker/contract/endpoints.ts`.
 */
export type Bound = { grows: string; upTo: string | string[] };

/** Every call of a user counts against it. */
const ofUser = 'LIMIT_CALLS_PER_USER';
/** A limit of `wrangler.toml`; where calls name a number, each number has its own beyond it. */
const ofAddress = 'RATE_LIMITER and NETWORK_RATE_LIMITER';
/** `failures` in `worker/http/limit-calls.ts`. */
const wrongSignatures = '600 wrong signatures a minute of an address, five times as many of a /48';

export const calls: Record<string, Bound> = {
  'POST /api/auth/request-otp': {
    grows: 'codes, `link_codes`, rate-limit events',
    upTo: [
      'of a number LIMIT_CODES_PER_NUMBER_HARD, five of them for its own link codes',
      'of an address and its network LIMIT_CODES_PER_ADDRESS, LIMIT_CODE_REQUESTS_PER_ADDRESS,',
      'LIMIT_CODES_PER_NETWORK and LIMIT_CODE_REQUESTS_PER_NETWORK',
      'of all numbers CODE_BUDGET_PER_DAY, and twice for whoever has just written',
      'of a request that sends nothing one link code, for 30 minutes',
      ofAddress,
    ],
  },
  'POST /api/auth/code-state': {
    grows: 'nothing',
    upTo: ofAddress,
  },
  'POST /api/auth/contact-state': {
    grows: 'one code for a link code',
    upTo: ['as a code of the number', ofAddress],
  },
  'POST /api/auth/verify-otp': {
    grows: 'wrong tries',
    upTo: [
      'CODE_TRIES of a challenge; LIMIT_WRONG_TRIES_PER_NUMBER without one',
      'LIMIT_TRIES_PER_ADDRESS, LIMIT_TRIES_PER_NETWORK, WRONG_TRIES_BUDGET_PER_DAY',
      ofAddress,
    ],
  },
  'POST /api/auth/verify-external-token': {
    grows: 'one session and one `used_tokens` row for each token of the issuer',
    upTo: ['a token counts once, for ten minutes', ofAddress],
  },
  'POST /auth/verify-trial-token': {
    grows: 'one session and one trial',
    upTo: ['a link once, a number one trial ever', ofAddress],
  },
  'POST /api/auth/logout': { grows: 'nothing; it deletes', upTo: ofUser },
  'GET /api/user/me': {
    grows: '`last_seen_at`, once an hour; a fetch from Stripe within an hour of a page there',
    upTo: [ofUser, 'a fetch in ten seconds; after a failure, the pauses of the cron job'],
  },
  'DELETE /api/user/me': {
    grows: 'one `outbox` row, `chat_erasures`, `left_weeks`; while Stripe fails, requests there',
    upTo: ['once for an account', ofUser],
  },
  'GET /api/user/platform': { grows: 'nothing', upTo: ofUser },
  'PUT /api/user/platform': {
    grows: 'one `outbox` row, which the next one replaces',
    upTo: 'one that waits or is parked, of an account',
  },
  'GET /api/user/export': {
    grows: 'requests at Stripe',
    upTo: '5 an hour of a user',
  },
  'POST /api/user/phone': {
    grows: 'a code, a `phone_changes` row',
    upTo: 'as the codes of the number and of the address, and 10 a day of a user; five minutes',
  },
  'POST /api/user/phone/verify': {
    grows: 'tries',
    upTo: 'CODE_TRIES of a change that was begun',
  },
  'GET /api/user/sessions': { grows: 'nothing', upTo: ofUser },
  'DELETE /api/user/sessions/:id': {
    grows: 'nothing; it deletes',
    upTo: ofUser,
  },
  'GET /api/user/push': { grows: 'nothing', upTo: ofUser },
  'PUT /api/user/push': {
    grows: 'a `push_subscriptions` row',
    upTo: '10 of a user; the newest stay',
  },
  'DELETE /api/user/push': { grows: 'nothing; it deletes', upTo: ofUser },
  'POST /api/billing/create-subscription-update-session': {
    grows: 'a page at Stripe, a `purchase_choices` row',
    upTo: '20 an hour of a user; one open Checkout of a customer',
  },
  'POST /api/billing/create-portal-session': {
    grows: 'a page at Stripe',
    upTo: '20 an hour of a user, together with the plan pages',
  },
  'GET /api/billing/subscription': { grows: 'nothing', upTo: ofUser },
  'POST /api/billing/cancel': {
    grows: 'requests at Stripe',
    upTo: 'one at a time of a user (lease), 120 an hour with the other calls that ask Stripe',
  },
  'POST /api/billing/resume': {
    grows: 'requests at Stripe',
    upTo: 'as `cancel`',
  },
  'POST /api/billing/cancel-reason': {
    grows: "one of the day's reasons",
    upTo: 'once for a cancellation',
  },
  'POST /api/billing/verify-and-update-checkout-session': {
    grows: 'requests at Stripe',
    upTo: 'as `cancel`',
  },
  'GET /api/billing/withdrawal': {
    grows: 'requests at Stripe',
    upTo: '120 an hour of a user, with `cancel`',
  },
  'POST /api/billing/withdrawal/objection': {
    grows: 'the state of a statement',
    upTo: 'the statements of the account',
  },
  'POST /api/billing/withdrawal': {
    grows: 'a `withdrawals` row, refunds',
    upTo: 'one for a contract; each payment goes back once; 10 addresses get its receipt; 120 an hour of a user',
  },
  'GET /api/withdrawals': { grows: 'nothing', upTo: ofAddress },
  'POST /api/withdrawals': {
    grows: 'a `withdrawals` row',
    upTo: [
      'LIMIT_STATEMENTS_PER_ADDRESS, five times as many of a /48',
      'kept for WITHDRAWAL_KEPT_DAYS, as the law asks, then deleted',
      'its person is told of one that waits, three times a day of a number',
      'one mail: 3 a day to an inbox, 3,000 a day of networks that cause at most 3, 300 of others; what is more waits',
    ],
  },
  'GET /api/withdrawals/:id/receipt': {
    grows: 'nothing',
    upTo: ofAddress,
  },
  'POST /api/user/stream-ticket': {
    grows: 'nothing; a ticket is signed, not stored',
    upTo: ofUser,
  },
  'GET /api/user/usage-stream': {
    grows: 'an open stream',
    upTo: '10 of a user, together with the next one; the oldest ends',
  },
  'GET /api/user/chat-stream': {
    grows: 'an open stream; what changed since, at most 200 changes',
    upTo: '10 of a user',
  },
  'GET /api/user/chat': {
    grows: 'nothing; 50 messages at once',
    upTo: ofUser,
  },
  'DELETE /api/user/chat': {
    grows: 'one `outbox` row, which the next one replaces; `chat_erasures`',
    upTo: 'one of an account',
  },
  'POST /api/user/chat/messages': {
    grows: 'a message, an `outbox` row',
    upTo: [
      "CHAT_MESSAGES_PER_MINUTE, cleared ones too, CHAT_MESSAGES_WAITING, and the week's allowance",
      'in the day after a crisis CHAT_MESSAGES_PER_MINUTE alone; for CHAT_RETENTION_DAYS',
    ],
  },
  'POST /api/user/chat/voice': {
    grows: 'a recording of 1,900,000 bytes',
    upTo: 'as a message; in the day after a crisis 20 MB together',
  },
  'GET /api/user/chat/voice/:id': { grows: 'nothing', upTo: ofUser },
  'PUT /api/user/chat/consent': {
    grows: 'a `consents` row; one `outbox` row, which the next one replaces',
    upTo: ['20 consents a day of an account', 'one event that waits, of an account', ofUser],
  },
  'DELETE /api/user/chat/consent': {
    grows: 'one `outbox` row, which the next one replaces',
    upTo: 'one that waits, of an account',
  },
  'POST /api/bot/messages': {
    grows: 'a message, a recording, a `bot_calls` row',
    upTo: "the bot's own pace: it holds the secret; CHAT_RETENTION_DAYS, the call 7 days",
  },
  'POST /api/bot/typing': {
    grows: 'nothing; the text so far is in memory',
    upTo: 'the newest one',
  },
  'POST /api/bot/voice': { grows: 'nothing', upTo: "the bot's own pace" },
  'POST /api/bot/transcripts': {
    grows: 'nothing; it replaces the text of a message',
    upTo: "the bot's own pace",
  },
  'POST /api/bot/contacts': {
    grows: 'a user, a `bot_calls` row; with a link code a code',
    upTo: 'one user for a number; an id claims three numbers a day; codes as above',
  },
  'POST /api/bot/usage': {
    grows: "the week's count, a `bot_calls` row",
    upTo: 'the allowance; the call 7 days',
  },
  'POST /api/bot/entitlements': {
    grows: 'a `bot_calls` row',
    upTo: '7 days',
  },
  'POST /api/bot/approvals': {
    grows: 'an `outbox` row, a `bot_calls` row',
    upTo: 'one event that waits, of an account',
  },
  'POST /api/bot/trials': {
    grows: 'a `trial_links` row, a `bot_calls` row',
    upTo: '7 days, or as long as its trial',
  },
  'POST /api/bot/referrals': {
    grows: "one of the day's referrals, a `bot_calls` row",
    upTo: "the bot's own pace; one row a day",
  },
  'POST /api/webhooks/stripe': {
    grows: 'a `stripe_events` row, a fetch from Stripe',
    upTo: ['an event once, of a customer that we know, for 30 days', wrongSignatures],
  },
  'GET /api/webhooks/whatsapp': { grows: 'nothing', upTo: ofAddress },
  'POST /api/webhooks/whatsapp': {
    grows: 'lines of the log; a code that did not arrive ends',
    upTo: ['the codes that were sent', wrongSignatures],
  },
  'GET /api/country': { grows: 'nothing', upTo: ofAddress },
  'GET /api/safety': { grows: 'nothing', upTo: ofAddress },
  'GET /api/openapi.json': { grows: 'nothing', upTo: ofAddress },
  'GET /api/health': {
    grows: 'one row that is replaced',
    upTo: ofAddress,
  },
  'DELETE /api/support/account': {
    grows: 'as `DELETE /api/user/me`',
    upTo: 'the owner, who holds SESSION_KEYS',
  },
  'GET /api/support/account': { grows: 'nothing', upTo: 'the owner' },
  'GET /api/support/stream': { grows: 'nothing', upTo: 'the owner' },
  'POST /api/support/account/phone': {
    grows: 'an `outbox` row',
    upTo: 'the owner',
  },
};

/** Those of the database, and in the end those of a live object. */
export const tables: Record<string, Bound> = {
  users: {
    grows: 'a number that has written, came by an external token, or paid',
    upTo: 'unused accounts go after ACCOUNT_RETENTION_DAYS',
  },
  sessions: { grows: 'a sign-in', upTo: '30 days' },
  codes: {
    grows: 'a code that was sent, twice',
    upTo: 'an hour after it has expired',
  },
  consents: {
    grows: 'a consent to the notice of the conversation',
    upTo: '20 a day of an account, as long as the account',
  },
  decisions: {
    grows: 'a transaction',
    upTo: 'none is left when it ends',
  },
  aliases: { grows: 'a user', upTo: 'three of a user' },
  identity_conflicts: {
    grows: 'an id that comes with a number of somebody else',
    upTo: 'one for a pair; goes with either account, or after 90 days',
  },
  link_codes: {
    grows: 'a refused or unknown request for a code',
    upTo: '30 minutes',
  },
  code_messages: {
    grows: 'a message with a code that WhatsApp took',
    upTo: 'as the codes, and until their rows expire',
  },
  claims: {
    grows: 'an id that claimed a number',
    upTo: 'three a day of an id; until it is proven, replaced or expired',
  },
  phone_changes: {
    grows: 'a change of the number that was begun',
    upTo: 'five minutes',
  },
  rate_limit_events: {
    grows: 'what limits count',
    upTo: 'a day; each limit bounds its own',
  },
  daily_codes: { grows: 'a day', upTo: 'one row' },
  daily_totals: { grows: 'a day', upTo: 'one row for a kind and detail' },
  bot_calls: { grows: 'a call of the bot', upTo: '7 days' },
  used_tokens: {
    grows: 'an external token, a step of a restore',
    upTo: 'until it could not count again, at most 90 days',
  },
  trial_links: {
    grows: 'a link that the bot asks for',
    upTo: '7 days, or as long as its trial',
  },
  used_trials: {
    grows: 'a number that had its trial',
    upTo: 'one of a number, for good',
  },
  left_weeks: {
    grows: 'a week that was used when its account or number was left',
    upTo: 'one of a number, until the week ends',
  },
  outbox: {
    grows: 'what the bot has not accepted',
    upTo: [
      '50 of an account beside its messages, which fail after a day',
      'parked: a message 7 days, a deletion 30 days, another until the owner decides,',
      'of platform, consent, clearing and approval the newest alone, which is never left out',
    ],
  },
  chat_erasures: {
    grows: 'a conversation that was cleared',
    upTo: 'one of an account, until the live object has confirmed it',
  },
  customers: {
    grows: 'somebody who was sent to Stripe',
    upTo: 'one of an account',
  },
  stripe_events: {
    grows: 'an event of a known customer',
    upTo: '30 days',
  },
  push_subscriptions: {
    grows: 'a browser',
    upTo: '10 of a user, as long as the session',
  },
  purchase_choices: {
    grows: 'a choice before a purchase',
    upTo: '20 an hour of a user, as long as the account and its open statement',
  },
  withdrawals: {
    grows: 'a statement',
    upTo: [
      'one for a contract; public ones LIMIT_STATEMENTS_PER_ADDRESS, five times as many of a /48',
      'deleted after WITHDRAWAL_KEPT_DAYS',
    ],
  },
  receipt_mails: {
    grows: 'a statement with an e-mail address',
    upTo: '10 of a statement of a signed-in person for 30 days; one of others until two days after it is sent',
  },
  messages: {
    grows: 'a message of the conversation, in the live object',
    upTo: 'CHAT_RETENTION_DAYS',
  },
  head: { grows: 'a live object with a conversation', upTo: 'one row' },
  cleared_times: {
    grows: 'a message that was cleared in its first minute',
    upTo: 'CHAT_MESSAGES_PER_MINUTE, a day',
  },
  recordings: { grows: 'a recording', upTo: 'as its message' },
};
