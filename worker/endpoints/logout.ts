import { sql } from 'drizzle-orm';
import type { Handler } from '../http/call.ts';
import { publish } from '../usage/publish.ts';

export const logout: Handler<'logout'> = async ({ caller, input, db, env, later }) => {
  const sessionId = input.everywhere ? null : caller.sessionId;
  const which = sessionId ? sql`id = ${sessionId}` : sql`user_id = ${caller.claimedUserId}`;
  await caller.load(db.run(sql`delete from sessions where ${which} and ${caller.userId} = user_id`));
  later(publish(env, caller.claimedUserId, { kind: 'end', sessionId }));
  return { success: true };
};
