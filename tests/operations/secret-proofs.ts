/** What shows each row of "What each secret opens" in the runbook: the tests by their files, or why there is none. */
export const secretProofs: Record<string, Record<string, string[]> | string> = {
  '`BOT_WEBHOOK_SECRET`': {
    'tests/api/secrets.test.ts': ['BOT_WEBHOOK_SECRET alone reads no message by %s'],
    'tests/api/rate-limits.test.ts': ['is refused when it is another number, whatever its form'],
  },
  '`TURSO_AUTH_TOKEN`': {
    'tests/api/one-row.test.ts': [
      'is no excuse: without a change everybody reads what is their own',
    ],
    'tests/api/chat-privacy.test.ts': [
      'stands in no row of the database and in no line of the log',
      'is unreadable with the key or the number of another user, and out of its place',
    ],
    'tests/api/secrets.test.ts': [
      'TURSO_AUTH_TOKEN alone signs nobody in by copying a code to another number',
    ],
  },
  '`CHAT_KEYS`': {
    'tests/api/secrets.test.ts': ['CHAT_KEYS alone signs no session and no call of the bot'],
  },
  '`STRIPE_SECRET_KEY`': 'no call of the Worker takes it',
  "Cloudflare's account": 'nothing can limit who runs the code',
  'bot and database': {
    'tests/api/secrets.test.ts': [
      'BOT_WEBHOOK_SECRET and TURSO_AUTH_TOKEN take over the account of a number, not its conversation',
    ],
  },
  'bot and `CHAT_KEYS`': {
    'tests/api/secrets.test.ts': [
      'BOT_WEBHOOK_SECRET alone reads no message by %s',
      'CHAT_KEYS alone signs no session and no call of the bot',
    ],
  },
  'bot and Stripe': 'the two systems share no call',
  'database and `CHAT_KEYS`': {
    'tests/api/chat-privacy.test.ts': [
      'is unreadable with the key or the number of another user, and out of its place',
    ],
  },
  'database and Stripe': 'the database has the id of the customer',
  '`CHAT_KEYS` and Stripe': {
    'tests/api/secrets.test.ts': ['CHAT_KEYS alone signs no session and no call of the bot'],
  },
  "Cloudflare's account and any other": 'nothing can limit who runs the code',
  '`SESSION_KEYS`': {
    'tests/api/accounts.test.ts': [
      'the support command exports and deletes the account that its token names, and opens no session',
    ],
  },
  'database and `SESSION_KEYS`': {
    'tests/api/secrets.test.ts': [
      'is TURSO_AUTH_TOKEN with SESSION_KEYS: it signs a session that is open',
    ],
  },
  'database and `CODE_PEPPER`': {
    'tests/api/secrets.test.ts': [
      'is TURSO_AUTH_TOKEN with CODE_PEPPER: it writes a code of its own',
    ],
  },
};
