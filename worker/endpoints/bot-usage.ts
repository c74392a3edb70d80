import { sql } from 'drizzle-orm';
import { canonicalPhone } from '../auth/canonical-phone.ts';
import type { Handler } from '../http/call.ts';
import { allowanceSql, answerOf, countSql, type Found } from '../usage/allowance.ts';
import { publish } from '../usage/publish.ts';
import { weekMs } from '../usage/week.ts';

export const botUsage: Handler<'botUsage'> = async ({ input, botCall, db, env, now, later }) => {
  const message = { ...input, phone: canonicalPhone(input.phone) };
  const allowed = sql`(select answer ->> 'allowed' = 1 from bot_calls where id = ${botCall.id})`;
  const count = countSql(message, now, sql`${botCall.won} and ${allowed}`);
  const result = await botCall.once<Found>(db, now, allowanceSql(message, now), [count]);
  const { answer: found } = result!;
  const counted = found.allowed === 1 ? input.count : 0;
  // Told again for the same call sent again: the answer of the first may have been lost, and with it this.
  if (counted) later(publish(env, found.userId!, totalOf(found, counted)));
  return answerOf(found, counted);
};

function totalOf(found: Found, counted: number) {
  const resetsAt = found.frozen ? null : found.weekStart! + weekMs;
  return { kind: 'total' as const, seq: found.seq! + 1, used: found.used! + counted, resetsAt };
}
