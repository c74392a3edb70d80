import { sql } from 'drizzle-orm';
import { eraseUser } from '../auth/erase-user.ts';
import type { Handler } from '../http/call.ts';
import { deliverOutbox } from '../messaging/deliver-outbox.ts';
import { publish } from '../usage/publish.ts';

export const deleteMe: Handler<'deleteMe'> = async ({ caller, db, env, settings, now, later }) => {
  const statements = eraseUser(caller.userId, sql`${caller.claimedUserId}`, now).map((statement) => db.run(statement));
  const [user] = await caller.load(...statements);
  later(publish(env, user.id, { kind: 'end', sessionId: null }));
  later(deliverOutbox(db, settings, user.phone));
  return { success: true };
};
