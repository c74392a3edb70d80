import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/*
 * Tables under their former names. Only the version before reads them. One deployment later this file is emptied and
 * `drizzle-kit generate` makes the `_contract` migration that drops them, after it has copied `spent_trials` once more.
 */

/** Now `rate_limit_events`. */
export const hits = sqliteTable(
  'hits',
  { subject: text('subject').notNull(), at: integer('at').notNull(), by: text('by').notNull() },
  (table) => [primaryKey({ columns: [table.subject, table.at, table.by] })],
);

/** Now `aliases` of kind `business`; triggers keep both in step. */
export const identities = sqliteTable('identities', {
  businessUserId: text('business_user_id').primaryKey(),
  userId: text('user_id').notNull().unique(),
  proof: text('proof').notNull(),
  at: integer('at').notNull(),
});

/** Now `used_tokens`. */
export const burntTokens = sqliteTable(
  'burnt_tokens',
  {
    id: text('id').primaryKey(),
    by: text('by').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [index('burnt_tokens_expiry').on(table.expiresAt)],
);

/** Now `used_trials`. */
export const spentTrials = sqliteTable('spent_trials', {
  phoneMac: text('phone_mac').primaryKey(),
  at: integer('at').notNull(),
});
