import { canonicalPhone } from '../auth/canonical-phone.ts';
import type { Handler } from '../http/call.ts';
import { allowanceSql, answerOf, type Found } from '../usage/allowance.ts';

export const botEntitlements: Handler<'botEntitlements'> = async ({ input, botCall, db, now }) => {
  const facts = allowanceSql({ phone: canonicalPhone(input.phone), count: 1, kind: 'text' }, now);
  const result = await botCall.once<Found>(db, now, facts, []);
  return answerOf(result!.answer, 0);
};
