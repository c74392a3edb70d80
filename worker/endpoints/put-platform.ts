import { sql } from 'drizzle-orm';
import type { Handler } from '../http/call.ts';
import { deliverSoon } from '../messaging/deliver-outbox.ts';
import { tellBot } from '../messaging/outbox.ts';

export const putPlatform: Handler<'putPlatform'> = async ({ caller, input, db, settings, now, later }) => {
  const { platform } = input;
  const changing = sql`from users where id = ${caller.userId} and platform <> ${platform}`;
  const [before] = await caller.load(
    db.run(tellBot('platform.changed', now, sql`phone`, sql`'platform', ${platform}`, changing)),
    db.run(sql`update users set platform = ${platform} where id = ${caller.userId}`),
  );
  if (before.platform !== platform) later(deliverSoon(db, settings, before.phone));
  return { success: true, platform };
};
