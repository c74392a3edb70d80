import { idempotentStatements } from '../../bot/bot-call.ts';
import type { Handler } from '../../http/handler.ts';
import { allowanceSql, usageResponseOf, messageValues, type Found } from '../../usage/allowance.ts';

const statements = idempotentStatements(allowanceSql('text'));

export const botEntitlements: Handler<'botEntitlements'> = async ({ input, botCall, db, now }) => {
  const values = messageValues(input.phone, 1);
  const found = await botCall.once<Found>(db, now, statements, values);
  return usageResponseOf(found!, 0);
};
