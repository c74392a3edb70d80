import { sql } from 'drizzle-orm';
import { applyOnce, idempotentStatements, isFirstCall, storedResponse } from '../../bot/idempotent-call.ts';
import type { Handler } from '../../http/handler.ts';
import { allowanceSql, usageResponseOf, countSql, messageValues, type Found } from '../../usage/allowance.ts';
import { publish } from '../../usage/publish.ts';
import { weekMs } from '../../usage/week.ts';

const countMessages = countSql(sql`${isFirstCall} and ${storedResponse} ->> 'allowed' = 1`);
const usageStatements = {
  text: idempotentStatements(allowanceSql('text'), [countMessages]),
  voice: idempotentStatements(allowanceSql('voice'), [countMessages]),
};

export const botUsage: Handler<'botUsage'> = async (context) => {
  const { input, env, waitUntil } = context;
  const values = messageValues(input.phone, input.count);
  const found = (await applyOnce<Found>(context, usageStatements[input.kind], values))!;
  const counted = found.allowed === 1 ? input.count : 0;
  // A replay publishes again: with the first response, its message may have been lost.
  if (counted && found.watched) waitUntil(publish(env, found.userId!, totalOf(found, counted)));
  return usageResponseOf(found, counted);
};

function totalOf(found: Found, counted: number) {
  const resetsAt = found.frozen ? null : found.weekStart! + weekMs;
  return { kind: 'total' as const, seq: found.seq! + 1, used: found.used! + counted, resetsAt };
}
