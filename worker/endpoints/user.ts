import { sql, and, eq, lte, ne, desc, gt, type SQL } from 'drizzle-orm';
import { syncUser } from '../billing/reconcile.ts';
import type { Handler, BaseContext } from '../http/request-context.ts';
import { profileOf } from '../usage/profile.ts';
import { users, sessions } from '#db/schema';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { insertBotEvent, exportOutbox } from '../bot/outbox.ts';
import { RequestError, rateLimited } from '../lib/request-error.ts';
import { endStreams, expectEnd, liveUserOf } from '../live/publish.ts';
import { allowedAt, recordEvents } from '../lib/rate-limits.ts';
import { exportUser, type ExportSection } from '../accounts/export-user.ts';
import { exportSubject } from '../accounts/rate-limit-subjects.ts';
import { hourMs } from '../lib/time.ts';
import { exportBilling } from '../billing/export-billing.ts';
import { exportConversation } from '../chat/chat-user.ts';
import { exportSignIn } from '../sign-in/export-sign-in.ts';
import { exportTrials } from '../trials/export-trials.ts';
import { acquireCustomer } from '../billing/acquire-lease.ts';
import { closeCustomers } from '../billing/close-customer.ts';
import { deleteLeasedUser } from '../billing/delete-leased-user.ts';
import { afterFailure, release } from '../billing/release-lease.ts';
import { withStripe } from '../billing/stripe-client.ts';
import { openSession } from '../accounts/open-session.ts';
import { UserSession } from '../accounts/user-session.ts';

const freshMs = 10_000;

/** A user who returns from Stripe's pages gets the new plan even if Stripe's event is lost. */
export const getMe: Handler<'getMe'> = async (context) => {
  const { session, now, waitUntil } = context;
  return session.run([], (user) => {
    const stale = sql`stripe_id is not null and synced_at < ${now - freshMs}`;
    if (user.billingWatchUntil && user.billingWatchUntil > now) waitUntil(syncUser(context, user.id, stale));
    return { success: true, profile: profileOf(user, now) };
  });
};

export const getPlatform: Handler<'getPlatform'> = async ({ session }) =>
  session.run([], (user) => ({ success: true, platform: user.platform }));

/** The time of the request is the version of the choice, so a late write never overwrites a newer choice. */
export const putPlatform: Handler<'putPlatform'> = async ({ session, input, db, settings, now, waitUntil }) => {
  const { platform } = input;
  const newest = and(eq(users.id, session.userId), lte(users.platformChosenAt, now));
  const changing = sql`from ${users} where ${and(newest, ne(users.platform, platform))}`;
  const statements = [
    db.run(
      insertBotEvent(settings, 'platform.changed', now, sql`${users.phone}`, sql`'platform', ${platform}`, changing),
    ),
    db.update(users).set({ platform, platformChosenAt: now }).where(newest),
  ] as const;
  return session.run([...statements], (before) => {
    if (before.platformChosenAt > now) return { success: true, platform: before.platform };
    if (before.platform !== platform) waitUntil(deliverSoon(db, settings, before.phone));
    return { success: true, platform };
  });
};

export const getSessions: Handler<'getSessions'> = async ({ session, db, now }) => {
  const live = db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, session.userId), gt(sessions.expiresAt, now)))
    .orderBy(desc(sessions.createdAt), desc(sessions.id));
  return session.run([live], (_user, rows) => ({
    success: true,
    sessions: rows.map(({ id, createdAt, lastSeenAt }) => ({
      id,
      createdAt: new Date(createdAt).toISOString(),
      lastSeenAt: new Date(Math.max(createdAt, lastSeenAt)).toISOString(),
      current: id === session.sessionId,
    })),
  }));
};

export const endSession: Handler<'endSession'> = async (context) => {
  const { session, params, db } = context;
  const ending = db.delete(sessions).where(and(eq(sessions.userId, session.userId), eq(sessions.id, params.id)));
  expectEnd(context, session.claimedUserId);
  return session.run([ending], (user, { rowsAffected }) => {
    if (rowsAffected === 0) throw new RequestError('notFound');
    endStreams(context, user.id, params.id);
    return { success: true };
  });
};

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

/** Tables that another section covers, or that have no user. */
const notes: ExportSection = async () => ({
  notes: [
    'Messages on WhatsApp are kept by WhatsApp and by the assistant.',
    'Responses to the assistant are kept for 7 days under the ids of its calls, with your count at that time.',
  ],
});

/** The sections of an export: a feature that stores data about users adds its section here. */
const exportSections: ExportSection[] = [
  exportSignIn,
  exportTrials,
  exportBilling,
  exportConversation,
  exportOutbox,
  notes,
];

/** Fails closed: the rows are deleted only after Stripe has confirmed that nothing can charge again. */
export const deleteMe: Handler<'deleteMe'> = async (context) =>
  acquireCustomer(context, async (leased) => {
    const { db, env, settings, now, waitUntil } = context;
    const { customer, user } = leased;
    try {
      const { stripeId, stripeAsked } = customer;
      if (stripeId || stripeAsked) await withStripe(settings, (stripe) => closeCustomers(stripe, leased));
      expectEnd({ env, waitUntil }, user.id);
      await deleteLeasedUser(db, settings, leased, now);
    } catch (error) {
      await release(db, leased, afterFailure(error)).catch(() => undefined);
      throw error;
    }
    if (user.chatEpoch > 0 || user.chatKey) waitUntil(liveUserOf(env, user.id).erase());
    endStreams({ env, waitUntil }, user.id, null);
    waitUntil(deliverSoon(db, settings, user.phone));
    return { success: true };
  });

type Context = Pick<BaseContext, 'db' | 'env' | 'settings' | 'now' | 'waitUntil'>;

/** Deletes an account through the user's own handler, with a session that is valid only if the condition holds. */
export async function deleteUnusedAccount(context: Context, userId: string, unused: SQL): Promise<void> {
  const { db, settings, now } = context;
  const sessionId = crypto.randomUUID();
  const [create] = openSession(sessionId, now, sql`from ${users} where ${unused}`);
  await db.run(create);
  try {
    const session = new UserSession({ userId, sessionId }, context, true);
    const request = new Request(settings.SITE_URL);
    await deleteMe({
      ...context,
      session,
      request,
      address: 'cron',
      input: undefined,
      query: undefined,
      params: undefined,
    });
  } finally {
    await db.delete(sessions).where(eq(sessions.id, sessionId));
  }
}
