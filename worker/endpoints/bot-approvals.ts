import { sql } from 'drizzle-orm';
import { botStatements, won } from '../auth/bot-call.ts';
import { canonicalPhone } from '../auth/canonical-phone.ts';
import type { Handler } from '../http/call.ts';
import { deliverSoon } from '../messaging/deliver-outbox.ts';
import { tellBot } from '../messaging/outbox.ts';
import { Problem } from '../problem.ts';
import { publish } from '../usage/publish.ts';

export const botApprovals: Handler<'botApprovals'> = async ({ input, botCall, db, env, settings, now, later }) => {
  const { status } = input;
  const phone = canonicalPhone(input.phone);
  const changing = sql`phone = ${phone} and status <> ${status} and ${won}`;
  const effects = [sql`update users set status = ${status} where ${changing}`];
  if (status === 'approved') {
    effects.unshift(
      tellBot('user.approved', now, sql`phone`, sql`'status', ${status}`, sql`from users where ${changing}`),
    );
  }
  const facts = sql`select json_object('userId', id) as answer from users where phone = ${phone}`;
  const found = await botCall.once<{ userId: string }>(db, now, botStatements(facts, effects));
  if (!found) throw new Problem('notFound', { message: 'Nobody with this number is known' });
  if (status === 'pending') later(publish(env, found.userId, { kind: 'end', sessionId: null }));
  later(deliverSoon(db, settings, phone));
  return { success: true, status };
};
