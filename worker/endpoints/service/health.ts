import { sql } from 'drizzle-orm';
import type { Handler } from '../../http/handler.ts';

export const health: Handler<'health'> = async ({ db }) => {
  try {
    await db.run(sql`select 1`);
    return { status: 'ok', checks: { database: 'ok' } };
  } catch {
    const body = { status: 'degraded', checks: { database: 'failed' } };
    return Response.json(body, { status: 503, headers: { 'retry-after': '5' } });
  }
};
