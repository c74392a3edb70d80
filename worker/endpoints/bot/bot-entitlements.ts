import { applyOnce, idempotentStatements } from '../../bot/idempotent-call.ts';
import type { Handler } from '../../http/handler.ts';
import { allowanceSql, usageResponseOf, messageValues, type Found } from '../../usage/allowance.ts';

const entitlementStatements = idempotentStatements(allowanceSql('text'));

export const botEntitlements: Handler<'botEntitlements'> = async (context) => {
  const values = messageValues(context.input.phone, 1);
  const found = await applyOnce<Found>(context, entitlementStatements, values);
  return usageResponseOf(found!, 0);
};
