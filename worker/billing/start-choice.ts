import { desc, eq } from 'drizzle-orm';
import { purchaseChoices, users } from '#db/schema';
import type { Language } from '../contract/languages.ts';
import { currency, plans, type PaidPlanId } from '../contract/plans.ts';
import { withdrawalTextVersion } from '../contract/withdrawal-schemas.ts';
import type { Database } from '../lib/database.ts';
import type { On, Transaction } from '../lib/transaction.ts';

/*
 * Before a purchase, a person may ask to start at once (article 14(3)).
 * The row is the evidence: a trigger of the database refuses every change
 * of it. The metadata of the subscription say which contract it belongs
 * to.
 */

export type Choice = { tier: PaidPlanId; startNow: boolean };

export type KeptChoice = Choice & { at: number };

type Chosen = Choice & { language: Language; now: number };

export function keepChoice<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { tier, startNow, language, now }: Chosen,
  userId: string,
): void {
  const row = {
    userId: users.id.getSQL(),
    tier,
    startNow,
    textVersion: withdrawalTextVersion,
    weeklyCents: plans[tier].weeklyCents,
    currency,
    language,
    at: now,
  };
  const where = eq(users.id, userId);
  tx.insert(on, purchaseChoices, row, { from: users, where });
}

export const choicesOf = (db: Database, userId: string) =>
  db
    .select()
    .from(purchaseChoices)
    .where(eq(purchaseChoices.userId, userId))
    .orderBy(desc(purchaseChoices.seq));

const prefix = 'start_now_';
const keyOf = (tier: PaidPlanId): string => prefix + tier;
const wordOf = (startNow: boolean): string => (startNow ? 'yes' : 'no');

export function startMetadata({ tier, startNow }: Choice): Record<string, string> {
  return { [keyOf(tier)]: wordOf(startNow) };
}

export function startMetadataIn(metadata: Record<string, string> | null): Record<string, string> {
  const entries = Object.entries(metadata ?? {});
  return Object.fromEntries(entries.filter(([key]) => key.startsWith(prefix)));
}

type Noted = { metadata: Record<string, string> };

/** `period` in unix seconds. */
type Note = { word: string; period: number };

function notesIn({ metadata }: Noted, tier: PaidPlanId): Note[] {
  const notes = metadata[keyOf(tier)]?.split(' ') ?? [];
  return notes.map((note) => {
    const [word = '', period = 0] = note.split('@');
    return { word, period: Number(period) };
  });
}

/** Stripe keeps 500 characters; a note has 14. */
const notesKept = 30;

/**
 * The metadata of a subscription with a choice for a plan that it may sell
 * next: those of earlier weeks stay, since a contract may have been
 * concluded by them.
 */
export function withNote(
  subscription: Noted,
  { tier, startNow }: Choice,
  period: number,
): Record<string, string> {
  const earlier = notesIn(subscription, tier).filter((note) => note.period !== period);
  const notes = [...earlier, { word: wordOf(startNow), period }].slice(-notesKept);
  const texts = notes.map((note) => (note.period ? `${note.word}@${note.period}` : note.word));
  return { [keyOf(tier)]: texts.join(' ') };
}

/**
 * Whether the buyer of a plan asked to start at once, by the last note
 * before its first week (`begins`, unix seconds), and by the evidence that
 * is kept. Later notes change nothing.
 */
export function hasAskedToStart(
  subscription: Noted,
  choices: Choice[],
  { tier, begins }: { tier: PaidPlanId; begins: number },
): boolean {
  const isKept = choices.some((choice) => choice.tier === tier && choice.startNow);
  const note = notesIn(subscription, tier).findLast(({ period }) => period <= begins);
  return note?.word === 'yes' && isKept;
}
