import { desc, eq, sql, type SQL } from 'drizzle-orm';
import { purchaseChoices, users } from '#db/schema';
import type { Language } from '../contract/languages.ts';
import { plans, type PaidPlanId } from '../contract/plans.ts';
import { withdrawalTextVersion } from '../contract/withdrawal-schemas.ts';
import type { Database } from '../lib/database.ts';
import { insertSelect } from '../lib/sql.ts';

/*
 * Before a purchase, a person may ask to start at once (article 14(3)). The row is the evidence: a trigger of the
 * database refuses every change of it. The metadata of the subscription say which contract it belongs to.
 */

export type Choice = { tier: PaidPlanId; startNow: boolean };

/** `at`: when it was made (unix ms). */
export type KeptChoice = Choice & { at: number };

type Chosen = Choice & { language: Language; now: number };

/**
 * SQL that keeps what the user chose, with the price
 * and the version of the text that the page showed.
 */
export function keepChoice({ tier, startNow, language, now }: Chosen, userId: string): SQL {
  const row = {
    userId: users.id.getSQL(),
    tier,
    startNow,
    textVersion: withdrawalTextVersion,
    weeklyCents: plans[tier].weeklyCents,
    currency: 'usd',
    language,
    at: now,
  };
  return insertSelect(purchaseChoices, row, sql`from ${users} where ${users.id} = ${userId}`);
}

export const choicesOf = (db: Database, userId: string) =>
  db
    .select()
    .from(purchaseChoices)
    .where(eq(purchaseChoices.userId, userId))
    .orderBy(desc(purchaseChoices.seq));

const prefix = 'start_now_';
const keyOf = (tier: PaidPlanId): string => prefix + tier;

/** Metadata of what is bought: whether its buyer asked to start at once. */
export function startMetadata({ tier, startNow }: Choice): Record<string, string> {
  return { [keyOf(tier)]: startNow ? 'yes' : 'no' };
}

/** The same of a checkout, for the subscription that follows it. */
export function startMetadataIn(metadata: Record<string, string> | null): Record<string, string> {
  const entries = Object.entries(metadata ?? {});
  return Object.fromEntries(entries.filter(([key]) => key.startsWith(prefix)));
}

/**
 * Whether the buyer of a plan asked to start at once:
 * by the metadata, and by the evidence that is kept.
 */
export function hasAskedToStart(
  { metadata }: { metadata: Record<string, string> },
  choices: Choice[],
  tier: PaidPlanId,
): boolean {
  const isKept = choices.some((choice) => choice.tier === tier && choice.startNow);
  return metadata[keyOf(tier)] === 'yes' && isKept;
}
