import { sql } from 'drizzle-orm';
import { answered, botStatements, won } from '../auth/bot-call.ts';
import { canonicalPhone } from '../auth/canonical-phone.ts';
import type { Handler } from '../http/call.ts';
import { allowanceSql, answerOf, countSql, messageValues, type Found } from '../usage/allowance.ts';
import { publish } from '../usage/publish.ts';
import { weekMs } from '../usage/week.ts';

const count = countSql(sql`${won} and ${answered} ->> 'allowed' = 1`);
const statements = {
  text: botStatements(allowanceSql('text'), [count]),
  voice: botStatements(allowanceSql('voice'), [count]),
};

export const botUsage: Handler<'botUsage'> = async ({ input, botCall, db, env, now, later }) => {
  const values = messageValues(canonicalPhone(input.phone), input.count);
  const found = (await botCall.once<Found>(db, now, statements[input.kind], values))!;
  const counted = found.allowed === 1 ? input.count : 0;
  // Told again for the same call sent again: the answer of the first may have been lost, and with it this.
  if (counted && found.watched) later(publish(env, found.userId!, totalOf(found, counted)));
  return answerOf(found, counted);
};

function totalOf(found: Found, counted: number) {
  const resetsAt = found.frozen ? null : found.weekStart! + weekMs;
  return { kind: 'total' as const, seq: found.seq! + 1, used: found.used! + counted, resetsAt };
}
