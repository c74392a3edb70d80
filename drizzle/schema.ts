import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** All instants are unix milliseconds, all phones canonical E.164. */
const instant = (name: string) => integer(name);
const flag = (name: string) => integer(name, { mode: 'boolean' });

export const users = sqliteTable(
  'users',
  {
    id: text('id').primaryKey(),
    phone: text('phone').notNull().unique(),
    /** The number as WhatsApp spells it, digits only; null until it has written. */
    whatsappId: text('whatsapp_id'),
    status: text('status', { enum: ['approved', 'pending'] }).notNull(),
    platform: text('platform', { enum: ['whatsapp', 'web'] })
      .notNull()
      .default('whatsapp'),
    createdAt: instant('created_at').notNull(),
    /** First message to the assistant; null for those who came by an external token only. */
    contactedAt: instant('contacted_at'),

    /** Where the weeks are counted from. */
    weekAnchor: instant('week_anchor').notNull(),
    /** While a payment is overdue no new week opens. */
    weekFrozen: flag('week_frozen').notNull().default(false),
    /** The week that `used` belongs to. */
    weekStart: instant('week_start').notNull(),
    used: integer('used').notNull().default(0),
    /** Grows with every change of the count: the order of the totals. */
    usageSeq: integer('usage_seq').notNull().default(0),
    /** No stream of the user is open after that: a message then wakes no object. */
    watchedUntil: integer('watched_until').notNull().default(0),

    /** What the subscription entitles to. */
    tier: text('tier', { enum: ['free', 'basic', 'premium', 'platinum'] })
      .notNull()
      .default('free'),
    subscriptionStatus: text('subscription_status', {
      enum: ['active', 'trialing', 'cancellation_scheduled', 'downgrade_scheduled', 'past_due', 'unpaid'],
    })
      .notNull()
      .default('active'),
    renewalAt: instant('renewal_at'),
    cancelAt: instant('cancel_at'),
    scheduledTier: text('scheduled_tier', { enum: ['free', 'basic', 'premium', 'platinum'] }),

    trialTier: text('trial_tier', { enum: ['basic', 'premium', 'platinum'] }),
    trialEndsAt: instant('trial_ends_at'),
    /** The subscription has been chosen during the trial and begins when it ends. */
    tierWaits: flag('tier_waits').notNull().default(false),
    /** After a visit to Stripe's pages: until then the plan is looked up, should Stripe's word get lost. */
    billingWatchUntil: instant('billing_watch_until'),
  },
  (table) => [index('users_trial_end').on(table.trialEndsAt), index('users_billing_watch').on(table.billingWatchUntil)],
);

export const sessions = sqliteTable(
  'sessions',
  {
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('sessions_user').on(table.userId)],
);

/** The newest one-time code of a number; only its keyed hash. */
export const codes = sqliteTable(
  'codes',
  {
    phone: text('phone').primaryKey(),
    mac: text('mac').notNull(),
    sentBy: text('sent_by').notNull(),
    expiresAt: instant('expires_at').notNull(),
    triesLeft: integer('tries_left').notNull(),
    /** The last try, and the one try that was right. */
    triedBy: text('tried_by'),
    wonBy: text('won_by'),
  },
  (table) => [index('codes_expiry').on(table.expiresAt)],
);

/** What the limits count: one row per thing that happened, kept as long as a limit looks back. */
export const hits = sqliteTable(
  'hits',
  {
    subject: text('subject').notNull(),
    at: instant('at').notNull(),
    by: text('by').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subject, table.at, table.by] })],
);

/** The bot's calls by their webhook-id, with what was answered. */
export const botCalls = sqliteTable('bot_calls', {
  id: text('id').primaryKey(),
  fingerprint: text('fingerprint').notNull(),
  by: text('by').notNull(),
  at: instant('at').notNull(),
  answer: text('answer', { mode: 'json' }).notNull(),
});

/** External tokens that were accepted once. */
export const burntTokens = sqliteTable(
  'burnt_tokens',
  { id: text('id').primaryKey(), by: text('by').notNull(), expiresAt: instant('expires_at').notNull() },
  (table) => [index('burnt_tokens_expiry').on(table.expiresAt)],
);

/** Trial links by the keyed hash of their token. */
export const trialLinks = sqliteTable(
  'trial_links',
  {
    mac: text('mac').primaryKey(),
    userId: text('user_id').notNull(),
    phoneMac: text('phone_mac').notNull(),
    tier: text('tier', { enum: ['basic', 'premium', 'platinum'] }).notNull(),
    days: integer('days').notNull(),
    expiresAt: instant('expires_at').notNull(),
    usedBy: text('used_by'),
  },
  (table) => [index('trial_links_user').on(table.userId), index('trial_links_expiry').on(table.expiresAt)],
);

/** Numbers that had their trial, as keyed hashes: all that outlives a deleted account. */
export const spentTrials = sqliteTable('spent_trials', {
  phoneMac: text('phone_mac').primaryKey(),
  at: instant('at').notNull(),
});

/** What the bot has yet to be told, in order. */
export const outbox = sqliteTable(
  'outbox',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id')
      .notNull()
      .unique()
      .default(sql`('evt_' || lower(hex(randomblob(16))))`),
    /** Events of one recipient keep their order. */
    phone: text('phone').notNull(),
    body: text('body').notNull(),
    attempts: integer('attempts').notNull().default(0),
    dueAt: instant('due_at').notNull(),
    leasedUntil: instant('leased_until').notNull().default(0),
  },
  (table) => [index('outbox_phone').on(table.phone, table.seq), index('outbox_due').on(table.dueAt)],
);

/**
 * Stripe's customer of a user. `dirty` counts reasons to look at Stripe again, `synced` how many of them a finished
 * look has covered; the lease lets one look write at a time.
 */
export const customers = sqliteTable(
  'customers',
  {
    userId: text('user_id').primaryKey(),
    stripeId: text('stripe_id').unique(),
    /** Stripe was asked to make the customer; the answer, with its id, may have been lost. */
    stripeAsked: flag('stripe_asked').notNull().default(false),
    dirty: integer('dirty').notNull().default(0),
    synced: integer('synced').notNull().default(0),
    syncedAt: instant('synced_at').notNull().default(0),
    leaseToken: text('lease_token').unique(),
    leaseUntil: instant('lease_until').notNull().default(0),
    /** The checkout that saves a card for the plan after the trial, until it is seen to. */
    setupSession: text('setup_session'),
    hadSubscription: flag('had_subscription').notNull().default(false),
  },
  (table) => [
    index('customers_dirty')
      .on(table.userId)
      .where(sql`dirty > synced`),
    index('customers_unanswered')
      .on(table.userId)
      .where(sql`stripe_asked and stripe_id is null`),
    index('customers_age').on(table.syncedAt),
  ],
);

/** Stripe's events that were taken. */
export const stripeEvents = sqliteTable('stripe_events', {
  id: text('id').primaryKey(),
  type: text('type').notNull(),
  by: text('by').notNull(),
  at: instant('at').notNull(),
});
