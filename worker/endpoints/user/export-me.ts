import { sql } from 'drizzle-orm';
import type { Handler } from '../../http/handler.ts';
import { allowedAt, recordEvents } from '../../lib/rate-limits.ts';
import { rateLimited } from '../../lib/request-error.ts';
import { exportUser } from '../../accounts/export-user.ts';
import { exportSubject } from '../../accounts/rate-limit-subjects.ts';
import { exportSections } from './export-sections.ts';
import { hourMs } from '../../lib/time.ts';

/** An export makes many requests to Stripe, whose rate limit all users share. */
const limits = [{ most: 5, per: hourMs }];

export const exportMe: Handler<'exportMe'> = async ({ session, db, env, settings, now }) => {
  const subject = exportSubject(session.claimedUserId);
  const mayExportAt = allowedAt([{ subject, limits }]);
  const allowed = sql`${mayExportAt} <= ${now} and ${session.userId} is not null`;
  const found = db.all<{ at: number }>(sql`select ${mayExportAt} as at`);
  const record = db.run(recordEvents(crypto.randomUUID(), now, [[[subject], allowed]]));
  return session.run([found, record], async (user, [limit]) => {
    if (limit!.at > now) throw rateLimited(limit!.at, now);
    const day = new Date(now).toISOString().slice(0, 10);
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="solace-data-${day}.json"`,
    };
    return new Response(await exportUser({ user, db, env, settings }, exportSections), { headers });
  });
};
