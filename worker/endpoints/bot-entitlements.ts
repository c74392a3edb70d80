import { botStatements } from '../auth/bot-call.ts';
import { canonicalPhone } from '../auth/canonical-phone.ts';
import type { Handler } from '../http/call.ts';
import { allowanceSql, answerOf, messageValues, type Found } from '../usage/allowance.ts';

const statements = botStatements(allowanceSql('text'));

export const botEntitlements: Handler<'botEntitlements'> = async ({ input, botCall, db, now }) => {
  const values = messageValues(canonicalPhone(input.phone), 1);
  const found = await botCall.once<Found>(db, now, statements, values);
  return answerOf(found!, 0);
};
