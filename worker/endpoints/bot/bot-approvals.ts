import { and, eq, ne, sql } from 'drizzle-orm';
import { users } from '#db/schema';
import { applyOnce, idempotentStatements, isFirstCall } from '../../bot/idempotent-call.ts';
import type { Handler } from '../../http/handler.ts';
import { deliverSoon } from '../../bot/deliver-outbox.ts';
import { insertBotEvent } from '../../bot/outbox.ts';
import { build } from '../../lib/prepared-statements.ts';
import { RequestError } from '../../lib/request-error.ts';
import { endStreams, expectEnd } from '../../usage/publish.ts';

export const botApprovals: Handler<'botApprovals'> = async (context) => {
  const { input, db, env, settings, now, waitUntil } = context;
  const { phone, status } = input;
  const changing = and(eq(users.phone, phone), ne(users.status, status), isFirstCall);
  const effects = [build.update(users).set({ status }).where(changing).getSQL()];
  if (status === 'approved') {
    const data = sql`'status', ${status}`;
    const from = sql`from ${users} where ${changing}`;
    effects.unshift(insertBotEvent(settings, 'user.approved', now, sql`${users.phone}`, data, from));
  }
  const facts = sql`select json_object('userId', ${users.id}) as answer from ${users} where ${eq(users.phone, phone)}`;
  const found = await applyOnce<{ userId: string }>(context, idempotentStatements(facts, effects));
  if (!found) throw new RequestError('notFound', { message: 'Nobody with this number is known' });
  if (status === 'pending') {
    expectEnd({ env, waitUntil }, found.userId);
    endStreams({ env, waitUntil }, found.userId, null);
  }
  waitUntil(deliverSoon(db, settings, phone));
  return { success: true, status };
};
