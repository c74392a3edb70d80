import { sql } from 'drizzle-orm';
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';

declare const canonical: unique symbol;

/** A phone number in canonical E.164 form; `worker/identity/phone.ts` makes it from what a caller sends. */
export type PhoneNumber = string & { readonly [canonical]: true };

/** All instants are unix milliseconds. */
const instant = (name: string) => integer(name);
const phoneNumber = (name: string) => text(name).$type<PhoneNumber>();
const flag = (name: string) => integer(name, { mode: 'boolean' });

export const users = sqliteTable(
  'users',
  {
    id: text('id').primaryKey(),
    /** The number that the conversation's key is bound to; users are looked up in `aliases`. */
    phone: phoneNumber('phone').notNull().unique(),
    /** The number may have a new owner; `aliases` says so, too (worker/identity/contest.ts). */
    isContested: flag('is_contested').notNull().default(false),
    status: text('status', { enum: ['approved', 'pending'] }).notNull(),
    platform: text('platform', { enum: ['whatsapp', 'web'] })
      .notNull()
      .default('whatsapp'),
    /** When the platform was chosen: an older choice that arrives later changes nothing. */
    platformChosenAt: instant('platform_chosen_at').notNull().default(0),
    createdAt: instant('created_at').notNull(),
    /** The first message to the assistant, or consent to its conversation; null before. */
    contactedAt: instant('contacted_at'),
    /** The last contact that the bot reported. */
    lastContactAt: instant('last_contact_at').notNull().default(0),
    /** The last call of a session, exact to an hour. */
    lastSeenAt: instant('last_seen_at').notNull().default(0),
    /** When the cron job next looks whether anybody uses the account. */
    retentionDueAt: instant('retention_due_at').notNull().default(0),
    /** When the user was told that the unused account will be deleted. */
    retentionNoticeAt: instant('retention_notice_at'),

    /** Where the weeks are counted from. */
    weekAnchor: instant('week_anchor').notNull(),
    /** Of a paid plan: only the next paid invoice opens a new week. */
    weekFrozen: flag('week_frozen').notNull().default(false),
    /** The week that `used` belongs to. */
    weekStart: instant('week_start').notNull(),
    used: integer('used').notNull().default(0),
    /** Grows with every change of the count: the order of the totals. */
    usageSeq: integer('usage_seq').notNull().default(0),
    /** No stream of the user is open after that, so a message then skips the Durable Object. */
    streamsOpenUntil: integer('streams_open_until').notNull().default(0),

    /** The plan that the subscription grants. */
    tier: text('tier', { enum: ['free', 'basic', 'premium', 'platinum'] })
      .notNull()
      .default('free'),
    subscriptionStatus: text('subscription_status', {
      enum: [
        'active',
        'trialing',
        'cancellation_scheduled',
        'downgrade_scheduled',
        'past_due',
        'unpaid',
      ],
    })
      .notNull()
      .default('active'),
    renewalAt: instant('renewal_at'),
    cancelAt: instant('cancel_at'),
    /** The end of the cancellation whose reason was counted. */
    reasonCountedFor: instant('reason_counted_for'),
    scheduledTier: text('scheduled_tier', { enum: ['free', 'basic', 'premium', 'platinum'] }),
    /** Whether the collection of payments is paused; `over` once it is not, until a week is paid. */
    collectionPause: text('collection_pause', { enum: ['paused', 'over'] }),
    /** When Stripe ends the pause; null for a pause until further notice. */
    resumesAt: instant('resumes_at'),

    trialTier: text('trial_tier', { enum: ['basic', 'premium', 'platinum'] }),
    trialEndsAt: instant('trial_ends_at'),
    /** The subscription was chosen during the trial and begins when the trial ends. */
    tierWaits: flag('tier_waits').notNull().default(false),
    /** Until then the cron job fetches the state every minute: the user was sent to Stripe's pages. */
    billingWatchUntil: instant('billing_watch_until'),

    /** The key of the conversation, wrapped by the key `chat_key_id` of `CHAT_KEYS`; null without consent. */
    chatKey: text('chat_key'),
    chatKeyId: text('chat_key_id'),
    /** Grows when the conversation is cleared: the Durable Object discards every message of a lower epoch. */
    chatEpoch: integer('chat_epoch').notNull().default(0),
    chatConsentVersion: text('chat_consent_version'),
    chatConsentAt: instant('chat_consent_at'),
  },
  (table) => [
    index('users_trial_end').on(table.trialEndsAt),
    index('users_chat_key_id')
      .on(table.chatKeyId)
      .where(sql`chat_key_id is not null`),
    index('users_retention').on(table.retentionDueAt),
  ],
);

export type User = typeof users.$inferSelect;

export const sessions = sqliteTable(
  'sessions',
  {
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** Opened by a trial link (people forward those) or with a contested number: it may not see or end what is private. */
    isLimited: flag('is_limited').notNull().default(false),
    /** Binds the session to the number that signed in (worker/identity/bindings.ts). */
    bindingMac: text('binding_mac'),
    /** Exact to an hour. */
    lastSeenAt: instant('last_seen_at').notNull().default(0),
    /** A coarse name by its user agent, such as "Safari on iPhone". */
    device: text('device'),
  },
  (table) => [index('sessions_user').on(table.userId)],
);

/**
 * One-time codes that were sent; only their keyed hashes. A code is stored twice: for its caller, who alone knows its
 * challenge, so that nobody else uses up its tries; and, under an empty challenge, as the newest one of the number.
 */
export const codes = sqliteTable(
  'codes',
  {
    phone: phoneNumber('phone').notNull(),
    /** The keyed hash of number and challenge; empty for the newest code. */
    challenge: text('challenge').notNull(),
    mac: text('mac').notNull(),
    sentBy: text('sent_by').notNull(),
    sentAt: instant('sent_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    triesLeft: integer('tries_left').notNull(),
    /** WhatsApp could not deliver the message; `tries_left` is 0. */
    undelivered: flag('undelivered').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.phone, table.challenge] }),
    index('codes_expiry').on(table.expiresAt),
  ],
);

/**
 * Each consent to the notice of the conversation, as long as the account: what is in force stands in `users`. One that
 * a newer version follows was not withdrawn.
 */
export const consents = sqliteTable(
  'consents',
  {
    userId: text('user_id').notNull(),
    version: text('version').notNull(),
    givenAt: instant('given_at').notNull(),
    withdrawnAt: instant('withdrawn_at'),
  },
  (table) => [primaryKey({ columns: [table.userId, table.givenAt, table.version] })],
);

/**
 * What the running transaction has decided: its first statement writes the one row, its last one deletes it. The outcome
 * and the facts are read by the statements in between. Writers are serialised, so none sees another's.
 */
export const decisions = sqliteTable('decisions', {
  id: integer('id').primaryKey(),
  outcome: text('outcome').notNull(),
  facts: text('facts').notNull(),
});

/**
 * The names of a user outside of Solace, by which alone users are looked up. A number is a user's only if the user's row
 * has it, too.
 */
export const aliases = sqliteTable(
  'aliases',
  {
    /** `whatsapp`: the number as WhatsApp spells it, digits only; `business`: the id that WhatsApp gives instead of it. */
    kind: text('kind', { enum: ['phone', 'whatsapp', 'business'] }).notNull(),
    /** As it is, like the account's number: events and the export give it back. */
    value: text('value').notNull(),
    userId: text('user_id').notNull(),
    /**
     * `contact`: the bot reported it; `code`: a code sent there was typed; `claim`: its link code was signed in with;
     * `token`: an external token named it; `typed`: the number's spelling until WhatsApp reports its own; `support`: the
     * owner moved the account; `earlier-number`: the account has another number since, so that a contact of that number
     * may bring another id; `contested`: the number came with another id than its own, and may have a new owner: so says
     * the user's row, too.
     */
    proof: text('proof', {
      enum: [
        'contact',
        'code',
        'claim',
        'token',
        'typed',
        'support',
        'earlier-number',
        'contested',
      ],
    }).notNull(),
    at: instant('at').notNull(),
    /** Binds a business-scoped id to the number of its user (worker/identity/bindings.ts); of a number: the same of its id. */
    bindingMac: text('binding_mac'),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.value] }),
    uniqueIndex('aliases_user').on(table.userId, table.kind),
  ],
);

/** Pairs of a number and a business-scoped id that are of two people; nothing is ever merged. */
export const identityConflicts = sqliteTable(
  'identity_conflicts',
  {
    /** The keyed hash of the id: nobody is ever looked up by it, nor told of it. */
    idMac: text('id_mac').notNull(),
    /** The user who has the number. */
    userId: text('user_id').notNull(),
    /** The user who has the id; null for an unknown id, where the number's user has another one. */
    otherUserId: text('other_user_id'),
    at: instant('at').notNull(),
    lastAt: instant('last_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.idMac, table.userId] }),
    index('identity_conflicts_last').on(table.lastAt),
    index('identity_conflicts_user').on(table.userId),
    index('identity_conflicts_other').on(table.otherUserId),
  ],
);

/**
 * Codes that the login page shows for an unknown number; only their keyed hashes. Whoever sends one from WhatsApp
 * claims the number.
 */
export const linkCodes = sqliteTable(
  'link_codes',
  {
    mac: text('mac').primaryKey(),
    phone: phoneNumber('phone').notNull(),
    /** The number as it was typed, digits only. */
    whatsappId: text('whatsapp_id').notNull(),
    /** The keyed hash of number and link code: the challenge of the one-time code that a claim sends. */
    challengeId: text('challenge_id').notNull().unique(),
    /** The language of the page, in which the one-time code is sent. */
    language: text('language').notNull().default('en'),
    expiresAt: instant('expires_at').notNull(),
    claimedBy: text('claimed_by'),
    /** The code that the claim sent: `sent_by` of `codes`. */
    sentBy: text('sent_by').unique(),
  },
  (table) => [
    index('link_codes_expiry').on(table.expiresAt),
    index('link_codes_phone').on(table.phone),
  ],
);

/**
 * The messages that carry codes, by the keyed hash of WhatsApp's id. A status may arrive before the response to the
 * request that sends the message: then the row has no number yet.
 */
export const codeMessages = sqliteTable(
  'code_messages',
  {
    mac: text('mac').primaryKey(),
    /** `sent_by` of the code. */
    sentBy: text('sent_by'),
    /** The number, encrypted. */
    sealedPhone: text('sealed_phone'),
    sentAt: instant('sent_at'),
    /** JSON: the subjects of the limits that count the code. */
    subjects: text('subjects'),
    state: text('state', { enum: ['sent', 'delivered', 'failed'] })
      .notNull()
      .default('sent'),
    /** The keyed hash of the business-scoped id that received the message. */
    recipientMac: text('recipient_mac'),
    keptUntil: instant('kept_until').notNull(),
  },
  (table) => [index('code_messages_expiry').on(table.keptUntil)],
);

/**
 * Business-scoped ids that have sent a link code. An id is tied to the account once the code has signed in and number
 * and id are proven to be one person's, in any order.
 */
export const claims = sqliteTable(
  'claims',
  {
    /** The keyed hash of the id. */
    mac: text('mac').primaryKey(),
    /** The id and the number, encrypted. */
    sealed: text('sealed').notNull(),
    /** `sent_by` of the code. */
    sentBy: text('sent_by').notNull().unique(),
    codeMac: text('code_mac').notNull(),
    triesLeft: integer('tries_left').notNull(),
    /** Of the code. */
    expiresAt: instant('expires_at').notNull(),
    provenAt: instant('proven_at'),
    /** The account that the code has made. */
    userId: text('user_id'),
  },
  (table) => [index('claims_expiry').on(table.expiresAt), index('claims_user').on(table.userId)],
);

/** Changes of the number that wait for the code sent to the new number; only keyed hashes of code and challenge. */
export const phoneChanges = sqliteTable(
  'phone_changes',
  {
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    phone: phoneNumber('phone').notNull(),
    whatsappId: text('whatsapp_id').notNull(),
    mac: text('mac').notNull(),
    expiresAt: instant('expires_at').notNull(),
    triesLeft: integer('tries_left').notNull(),
  },
  (table) => [
    index('phone_changes_user').on(table.userId),
    index('phone_changes_phone').on(table.phone),
    index('phone_changes_expiry').on(table.expiresAt),
  ],
);

/** What the rate limits count: one row an event, kept as long as the longest limit looks back. */
export const rateLimitEvents = sqliteTable(
  'rate_limit_events',
  {
    subject: text('subject').notNull(),
    at: instant('at').notNull(),
    /** What was counted, such as `sent_by` of a code; else the transaction. Events of one instant differ by it. */
    by: text('by').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subject, table.at, table.by] })],
);

/** How many one-time codes were sent on a day, for all numbers together; `day` counts from 1970-01-01 UTC. */
export const dailyCodes = sqliteTable('daily_codes', {
  day: integer('day').primaryKey(),
  sent: integer('sent').notNull(),
});

/**
 * What is counted for years and holds nothing about a person: one row for each day, kind and detail. The detail of a
 * referral is its channel, that of a reason the reason; a cancellation has none.
 */
export const dailyTotals = sqliteTable(
  'daily_totals',
  {
    /** Days since 1970-01-01 UTC. */
    day: integer('day').notNull(),
    kind: text('kind', {
      enum: ['referral', 'cancellation', 'cancel_reason', 'claim', 'number_change', 'wrong_code'],
    }).notNull(),
    detail: text('detail').notNull().default(''),
    n: integer('n').notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.day, table.detail] })],
);

/** The bot's calls by the keyed hash of their webhook-id, with what was decided: the response is made from it. */
export const botCalls = sqliteTable('bot_calls', {
  id: text('id').primaryKey(),
  fingerprint: text('fingerprint').notNull(),
  /** The transaction that inserted the row: a repeated call has another, and writes no effect. */
  by: text('by').notNull(),
  at: instant('at').notNull(),
  /** The facts by which the outcome was decided. */
  facts: text('facts').notNull(),
  outcome: text('outcome').notNull().default(''),
});

/** What counts once: external tokens that were accepted, and the steps of a restore. */
export const usedTokens = sqliteTable(
  'used_tokens',
  {
    id: text('id').primaryKey(),
    /** The transaction that accepted the token; of a step of a restore, how or when it was done. */
    by: text('by').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('used_tokens_expiry').on(table.expiresAt)],
);

/** Trial links by the keyed hash of their token. */
export const trialLinks = sqliteTable(
  'trial_links',
  {
    mac: text('mac').primaryKey(),
    userId: text('user_id').notNull(),
    phoneMac: text('phone_mac').notNull(),
    /** Binds the link to the number of its user (worker/identity/bindings.ts). */
    bindingMac: text('binding_mac'),
    tier: text('tier', { enum: ['basic', 'premium', 'platinum'] }).notNull(),
    days: integer('days').notNull(),
    expiresAt: instant('expires_at').notNull(),
    isUsed: flag('is_used').notNull().default(false),
  },
  (table) => [
    index('trial_links_user').on(table.userId),
    index('trial_links_expiry').on(table.expiresAt),
  ],
);

/** Numbers that had their trial, as keyed hashes; they outlive a deleted account. */
export const usedTrials = sqliteTable('used_trials', {
  phoneMac: text('phone_mac').primaryKey(),
  at: instant('at').notNull(),
});

/** Free weeks of deleted accounts by keyed hashes of their numbers, until the week ends: deletion renews no allowance. */
export const leftWeeks = sqliteTable(
  'left_weeks',
  {
    phoneMac: text('phone_mac').primaryKey(),
    used: integer('used').notNull(),
    endsAt: instant('ends_at').notNull(),
  },
  (table) => [index('left_weeks_end').on(table.endsAt)],
);

/** Events for the bot that it has not accepted yet; a row is deleted when it has. */
export const outbox = sqliteTable(
  'outbox',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id')
      .notNull()
      .unique()
      .default(sql`('evt_' || lower(hex(randomblob(16))))`),
    /** Events about one user keep their order. */
    userId: text('user_id'),
    /** The number that the body names. */
    phone: phoneNumber('phone').notNull(),
    /** The JSON body; of a `chat.message` without its text, which the conversation's Durable Object holds. */
    body: text('body').notNull(),
    /** The message that a `chat.message` points to. */
    messageId: text('message_id'),
    createdAt: instant('created_at').notNull().default(0),
    attempts: integer('attempts').notNull().default(0),
    dueAt: instant('due_at').notNull(),
    leasedUntil: instant('leased_until').notNull().default(0),
    /** The bot refused it for good: nobody sends it, and the next event of the number follows. */
    parkedAt: instant('parked_at'),
  },
  (table) => [
    index('outbox_user').on(table.userId, table.seq),
    index('outbox_due').on(table.dueAt),
    index('outbox_parked')
      .on(table.parkedAt)
      .where(sql`parked_at is not null`),
  ],
);

/**
 * Conversations whose Durable Object has not confirmed yet that it discarded every message below `epoch`, or, where
 * it is null because the account is gone, everything.
 */
export const chatErasures = sqliteTable(
  'chat_erasures',
  {
    userId: text('user_id').primaryKey(),
    epoch: integer('epoch'),
    createdAt: instant('created_at').notNull(),
    dueAt: instant('due_at').notNull(),
  },
  (table) => [index('chat_erasures_due').on(table.dueAt)],
);

/**
 * Stripe's customer of a user. `dirty` counts the reasons to fetch its state, `synced` those that a finished fetch has
 * covered; the lease lets one holder write at a time.
 */
export const customers = sqliteTable(
  'customers',
  {
    userId: text('user_id').primaryKey(),
    stripeId: text('stripe_id').unique(),
    /** Stripe was asked to create the customer; while `stripe_id` is null, the response may have been lost. */
    stripeAsked: flag('stripe_asked').notNull().default(false),
    /** When Stripe was asked first; the customer is not older. */
    askedAt: instant('asked_at'),
    /** Part of every idempotency key: grows when Stripe would replay a failure. */
    attempt: integer('attempt').notNull().default(1),
    dirty: integer('dirty').notNull().default(0),
    synced: integer('synced').notNull().default(0),
    syncedAt: instant('synced_at').notNull().default(0),
    /** When the cron job fetches the state next; null when nothing can change. 0 lets it fetch rows of older versions. */
    dueAt: instant('due_at').default(0),
    /** Fetches that failed in a row: the pause before the next one grows with them. */
    failures: integer('failures').notNull().default(0),
    leaseToken: text('lease_token').unique(),
    leaseUntil: instant('lease_until').notNull().default(0),
    /** The checkout that saves a card for the plan after the trial, until it is dealt with. */
    setupSession: text('setup_session'),
    hadSubscription: flag('had_subscription').notNull().default(false),
    /** When the deletion of the account began; the cron job goes on with one that was cut off. */
    deletionBeganAt: instant('deletion_began_at'),
  },
  (table) => [
    index('customers_due').on(table.dueAt),
    index('customers_deletion')
      .on(table.deletionBeganAt)
      .where(sql`deletion_began_at is not null`),
  ],
);

/** Events of Stripe that were received. */
export const stripeEvents = sqliteTable('stripe_events', {
  id: text('id').primaryKey(),
  type: text('type').notNull(),
  at: instant('at').notNull(),
});

/** Browsers that are notified of replies, each as long as the session that subscribed it. */
export const pushSubscriptions = sqliteTable(
  'push_subscriptions',
  {
    /** An address of the browser's push service; whoever knows it can reach the browser. */
    endpoint: text('endpoint').primaryKey(),
    userId: text('user_id').notNull(),
    sessionId: text('session_id').notNull(),
    /** The browser's keys, in base64url. */
    p256dh: text('p256dh').notNull(),
    auth: text('auth').notNull(),
    /** The key of `VAPID_KEYS` with which the browser subscribed; the push service accepts no other. */
    publicKey: text('public_key').notNull(),
    language: text('language', { enum: ['en', 'es', 'pt-BR'] }).notNull(),
    createdAt: instant('created_at').notNull(),
    /** The end of the session. */
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('push_subscriptions_user').on(table.userId),
    index('push_subscriptions_expiry').on(table.expiresAt),
  ],
);

/**
 * What people chose before each purchase: whether the plan starts before the right to withdraw has ended. Rows are only
 * added: a trigger refuses every change.
 */
export const purchaseChoices = sqliteTable(
  'purchase_choices',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    userId: text('user_id').notNull(),
    tier: text('tier', { enum: ['basic', 'premium', 'platinum'] }).notNull(),
    startNow: flag('start_now').notNull(),
    /** The version of the text that stood beside the choice. */
    textVersion: text('text_version').notNull(),
    weeklyCents: integer('weekly_cents').notNull(),
    currency: text('currency').notNull(),
    language: text('language').notNull(),
    at: instant('at').notNull(),
  },
  (table) => [index('purchase_choices_user').on(table.userId)],
);

/**
 * Statements of withdrawal, numbered. Triggers refuse changes of what was stated, and the deletion of a statement before
 * `kept_until`: it outlives its account.
 */
export const withdrawals = sqliteTable(
  'withdrawals',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    /** Null while the statement is not matched to an account. */
    userId: text('user_id'),
    /** `account`: by a signed-in person; `public`: by the form for everybody. */
    origin: text('origin', { enum: ['account', 'public'] }).notNull(),
    name: text('name'),
    contact: text('contact').notNull(),
    plan: text('plan'),
    email: text('email'),
    language: text('language').notNull(),
    submittedAt: instant('submitted_at').notNull(),
    keptUntil: instant('kept_until').notNull(),
    /** The text that was given, in that language, without the link to its file. */
    receipt: text('receipt').notNull(),
    /** The time at Stripe, in unix seconds, by which the refund is computed. */
    billedAt: integer('billed_at'),

    /** The contract of the statement; null until it is known. */
    subscription: text('subscription'),
    tier: text('tier', { enum: ['basic', 'premium', 'platinum'] }),
    concludedAt: instant('concluded_at'),
    startNow: flag('start_now'),
    currency: text('currency'),
    /** Whole cents that go back. */
    refund: integer('refund'),

    state: text('state', { enum: ['received', 'refunding', 'done', 'needs_owner'] })
      .notNull()
      .default('received'),
    /** Why it goes on no more, or why the owner has to act. */
    reason: text('reason'),
    /** When the cron job goes on with it; null when nothing is left to do. */
    dueAt: instant('due_at'),
    attempts: integer('attempts').notNull().default(0),
    /** When the bot was told that the money is on its way. */
    announcedAt: instant('announced_at'),
  },
  (table) => [
    index('withdrawals_user').on(table.userId),
    index('withdrawals_state').on(table.state, table.submittedAt),
    index('withdrawals_due')
      .on(table.dueAt)
      .where(sql`due_at is not null`),
    uniqueIndex('withdrawals_contract')
      .on(table.subscription, table.concludedAt)
      .where(sql`subscription is not null`),
  ],
);

export type Withdrawal = typeof withdrawals.$inferSelect;

/**
 * Receipts that go, or have gone, to an e-mail address: one row for a statement and an inbox. Those with the same inbox
 * and time go in one mail, of which one row is the head.
 */
export const receiptMails = sqliteTable(
  'receipt_mails',
  {
    statementId: text('statement_id').notNull(),
    /** A keyed hash: of a stranger's receipts by the address alone, of a person's by the statement, too. */
    inbox: text('inbox').notNull(),
    /** Whether a signed-in person has given the address. */
    isOwn: flag('is_own').notNull(),
    /** The address, encrypted; empty when nothing is left to do. */
    sealed: text('sealed').notNull(),
    /** The keyed hash of the network that has caused a stranger's mail. */
    network: text('network'),
    /** Which daily budget counts it; null for what goes with another mail, and for a person's own. */
    budget: text('budget', { enum: ['few', 'many'] }),
    /** The first attempt. */
    sendAt: instant('send_at').notNull(),
    attempts: integer('attempts').notNull().default(0),
    /** The next attempt of a head; null when nothing is left to do. */
    dueAt: instant('due_at'),
    keptUntil: instant('kept_until').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.statementId, table.inbox] }),
    index('receipt_mails_due')
      .on(table.dueAt)
      .where(sql`due_at is not null`),
    index('receipt_mails_inbox').on(table.inbox, table.sendAt),
    index('receipt_mails_network').on(table.network, table.sendAt),
    index('receipt_mails_budget').on(table.budget, table.sendAt),
    index('receipt_mails_kept').on(table.keptUntil),
  ],
);
