import { and, eq, gt, isNotNull, not } from 'drizzle-orm';
import { users } from '#db/schema';
import type { PlanId } from '../contract/plans.ts';
import type { Usage } from '../contract/schemas.ts';
import { columnFact, fixed, isTrue, plus } from '../lib/expressions.ts';
import { entitledTierSql, fitsAllowanceSql, usageResponse, voiceSql } from '../usage/allowance.ts';
import { currentWeekSql, usedSql, weekMs } from '../usage/week.ts';
import { applyToPerson, personTransaction, type Person, type PersonCall } from './person.ts';

type Messages = { count: number; kind: 'text' | 'voice' };

type Total = {
  kind: 'total';
  seq: number;
  used: number;
  resetsAt: number | null;
};

export type Counted = {
  usage: Usage;
  /** Null where nothing was counted, or no stream can be open. */
  publish: { userId: string; total: Total } | null;
};

/**
 * Counts messages that the person has sent. The first condition that holds decides:
 *
 * | outcome    | condition                     | response         | rows                          |
 * | ---------- | ----------------------------- | ---------------- | ----------------------------- |
 * | `conflict` | two people (`person.ts`)      | 409              | see there                     |
 * | `stranger` | nobody has the names          | 200, not allowed | `bot_calls`                   |
 * | `spent`    | the account is pending or has | 200, not allowed | `bot_calls`                   |
 * |            | no contact, its plan has no   |                  |                               |
 * |            | voice, or its week has no     |                  |                               |
 * |            | room for `count`              |                  |                               |
 * | `allowed`  | none of these                 | 200              | `bot_calls`; `users`: `used`, |
 * |            |                               |                  | `week_start`, `usage_seq`     |
 *
 * The count is published to open streams after the response. The same call again has the first
 * response, counts nothing, and publishes again.
 */
export async function countUsage(
  scope: PersonCall,
  person: Person,
  messages: Messages,
): Promise<Counted> {
  const { count } = messages;
  const tx = await allowanceFor(scope, person, messages);

  const counted = {
    used: plus(tx.fact('used'), count),
    weekStart: tx.fact('weekStart'),
    usageSeq: plus(users.usageSeq, 1),
  };
  tx.update(['allowed'], users, counted, eq(users.id, tx.fact('userId')));

  const { outcome, facts } = await applyToPerson(tx);

  switch (outcome) {
    case 'stranger':
      return { usage: usageOfStranger(facts.at), publish: null };
    case 'spent':
      return {
        usage: usageOf(facts, { allowed: false, used: facts.used }),
        publish: null,
      };
    case 'allowed': {
      const used = facts.used + count;
      return {
        usage: usageOf(facts, { allowed: true, used }),
        publish: publishedOf(facts, used),
      };
    }
  }
}

/** Decides as `countUsage` does for one text, and writes `bot_calls` alone. */
export async function readAllowance(scope: PersonCall, person: Person): Promise<Usage> {
  const tx = await allowanceFor(scope, person, { count: 1, kind: 'text' });
  const { outcome, facts } = await applyToPerson(tx);
  if (outcome === 'stranger') return usageOfStranger(facts.at);
  return usageOf(facts, { allowed: outcome === 'allowed', used: facts.used });
}

const mayWrite = and(eq(users.status, 'approved'), isNotNull(users.contactedAt))!;

function allowanceFor(scope: PersonCall, person: Person, { count, kind }: Messages) {
  const { now } = scope;
  return personTransaction(scope, person, {
    facts: {
      userId: columnFact<string | null>(users.id),
      at: fixed(now),
      mayWrite,
      seq: columnFact<number>(users.usageSeq),
      isWeekFrozen: columnFact<number>(users.weekFrozen),
      hasOpenStream: isTrue(gt(users.streamsOpenUntil, now)),
      weekStart: currentWeekSql(now),
      used: usedSql(now),
      tier: entitledTierSql(now),
    },

    outcomes: ({ isKnown, mayWrite, used, tier }) => {
      const hasVoice = kind === 'voice' ? voiceSql(tier) : undefined;
      const fits = fitsAllowanceSql(plus(used, count), tier);
      return {
        stranger: not(isKnown),
        spent: not(and(mayWrite, hasVoice, fits)!),
      };
    },
    otherwise: 'allowed',
  });
}

type AllowanceFacts = {
  userId: string | null;
  seq: number;
  isWeekFrozen: number;
  hasOpenStream: number;
  weekStart: number;
  tier: PlanId;
};

function usageOf(
  { tier, weekStart }: AllowanceFacts,
  { allowed, used }: { allowed: boolean; used: number },
) {
  return usageResponse({ allowed, used, tier, resetsAt: weekStart + weekMs });
}

function usageOfStranger(at: number) {
  return usageResponse({
    allowed: false,
    used: 0,
    tier: 'free',
    resetsAt: at + weekMs,
  });
}

function publishedOf(
  { userId, seq, isWeekFrozen, hasOpenStream, weekStart }: AllowanceFacts,
  used: number,
) {
  if (!hasOpenStream) return null;
  const resetsAt = isWeekFrozen ? null : weekStart + weekMs;
  return {
    userId: userId!,
    total: {
      kind: 'total' as const,
      seq: seq + 1,
      used,
      resetsAt,
    },
  };
}
