import { eq } from 'drizzle-orm';
import { rateLimitEvents } from '#db/schema';
import type { Handler } from '../http/handlers.ts';
import { connectionCountry } from '../lib/caller.ts';
import type { Database } from '../lib/database.ts';
import { totalsOfYears } from '../lib/daily-totals.ts';
import { openApi } from '../http/openapi.ts';
import { memoize } from '../lib/memoize.ts';

export const health: Handler<'health'> = async ({ db, env, now }) => {
  const headers = env.VERSION ? { 'x-version': env.VERSION.id } : {};
  try {
    await tryWrite(db, now);
    return Response.json({ status: 'ok', checks: { database: 'ok' } }, { headers });
  } catch {
    const body = { status: 'degraded', checks: { database: 'failed' } };
    return Response.json(body, {
      status: 503,
      headers: { ...headers, 'retry-after': '5' },
    });
  }
};

/** A full or blocked database still reads. */
function tryWrite(db: Database, now: number): Promise<unknown> {
  const event = {
    subject: 'health',
    at: now,
    by: 'health',
  };
  return db.batch([
    db.delete(rateLimitEvents).where(eq(rateLimitEvents.subject, event.subject)),
    db.insert(rateLimitEvents).values(event),
  ]);
}

/** Nothing is stored or logged. */
export const getCountry: Handler<'getCountry'> = async ({ request }) => ({
  success: true,
  country: connectionCountry(request),
});

/** Years by UTC, as the days are counted. */
export const getSafety: Handler<'getSafety'> = async ({ db, now }) => {
  const year = new Date(now).getUTCFullYear();
  const [lastYear, thisYear] = await totalsOfYears(db, 'referral', year - 1, year);
  return { success: true, referrals: { lastYear, thisYear } };
};

const descriptionOf = memoize((siteUrl: string) => JSON.stringify(openApi(siteUrl)));

export const openapi: Handler<'openapi'> = async ({ settings }) =>
  new Response(descriptionOf(settings.SITE_URL), {
    headers: { 'content-type': 'application/json' },
  });
