import { and, desc, eq, gt, isNotNull, lt, lte, or } from 'drizzle-orm';
import { customers, pushSubscriptions, sessions, users } from '#db/schema';
import { deleteAccount } from '../account/account-deletion.ts';
import { exportAccount, exportLimits, exportSubject } from '../account/account-export.ts';
import { endUserSessions } from '../account/end-user-sessions.ts';
import { boundRowsOf } from '../account/moving-account.ts';
import { movePhone } from '../account/move-phone.ts';
import { beginPhoneChange as startPhoneChange } from '../account/begin-phone-change.ts';
import { verifyPhoneChange as finishPhoneChange } from '../account/verify-phone-change.ts';
import { leaseOf } from '../billing/lease.ts';
import { syncUser } from '../billing/sync.ts';
import type { Input } from '../contract/endpoints.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { choosePlatform } from '../chat/platform.ts';
import type { Handler } from '../http/handlers.ts';
import { withinLimit } from '../identity/limited-act.ts';
import { isAccountContestedSql } from '../identity/contest.ts';
import { fixed } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { isPushService, subscribeSql } from '../push/reply-notices.ts';
import { isPublicKey } from '../push/web-push.ts';
import type { Settings } from '../settings.ts';
import { profileOf } from '../usage/profile.ts';

const freshMs = 10_000;

/** Stripe's event may be lost. */
export const getMe: Handler<'getMe'> = async (scope) => {
  const { session, now, waitUntil } = scope;
  return session.run([], ({ user }) => {
    const stale = and(isNotNull(customers.stripeId), lt(customers.syncedAt, now - freshMs));
    const mayAsk = or(eq(customers.failures, 0), lte(customers.dueAt, now));
    if (user.billingWatchUntil && user.billingWatchUntil > now)
      waitUntil(syncUser(scope, user.id, and(stale, mayAsk)));
    return { success: true, profile: profileOf(user, now) };
  });
};

export const getPlatform: Handler<'getPlatform'> = async ({ session }) =>
  session.run([], ({ user }) => ({ success: true, platform: user.platform }));

export const putPlatform: Handler<'putPlatform'> = async (scope) => {
  const { input, db, settings, waitUntil } = scope;
  return choosePlatform(scope, input.platform, ({ userId, platform, isNew }) => {
    if (isNew) waitUntil(deliverSoon(db, settings, userId));
    return { success: true, platform };
  });
};

export const getSessions: Handler<'getSessions'> = async ({ session, db, now }) => {
  const live = db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, session.admittedUserSql()), gt(sessions.expiresAt, now)))
    .orderBy(desc(sessions.createdAt), desc(sessions.id));
  return session.run([live], (_user, rows) => ({
    success: true,
    sessions: rows.map(({ id, createdAt, lastSeenAt, device }) => ({
      id,
      createdAt: new Date(createdAt).toISOString(),
      lastSeenAt: new Date(Math.max(createdAt, lastSeenAt)).toISOString(),
      device,
      current: id === session.sessionId,
    })),
  }));
};

export const endSession: Handler<'endSession'> = async (scope) => {
  const { session, params } = scope;
  return session.run([], async ({ user }) => {
    const ended = await endUserSessions(scope, user.id, params.id);
    if (ended === 0) throw new RequestError('notFound');
    return { success: true };
  });
};

export const getPush: Handler<'getPush'> = async ({ session, settings }) =>
  session.run([], () => {
    const [key] = settings.require('VAPID_KEYS') ?? [];
    if (!key) throw new RequestError('notFound');
    return { success: true, publicKey: key.publicKey };
  });

export const putPush: Handler<'putPush'> = async ({
  session,
  input,
  db,
  settings,
  language,
  now,
}) => {
  const ring = settings.require('VAPID_KEYS');
  const issue = await findPushIssue(settings, input);
  const statements =
    ring && !issue
      ? subscribeSql(session, input, {
          ring,
          language,
          now,
        })
      : [];

  return session.run(
    statements.map((statement) => db.run(statement)),
    () => {
      if (!ring) throw new RequestError('notFound');
      if (issue)
        throw new RequestError('invalidField', {
          message: issue.message,
          issues: [issue],
        });
      return { success: true };
    },
  );
};

async function findPushIssue(settings: Settings, { endpoint, keys }: Input<'putPush'>) {
  if (!isPushService(settings, endpoint))
    return {
      path: 'endpoint',
      message: 'endpoint must be an https address of a public push service',
    };
  if (!(await isPublicKey(keys.p256dh)))
    return { path: 'keys.p256dh', message: 'p256dh must be a point of P-256' };
  return null;
}

export const deletePush: Handler<'deletePush'> = async ({ session, input, db, settings }) => {
  const { endpoint, userId } = pushSubscriptions;
  const own = and(eq(endpoint, input.endpoint), eq(userId, session.admittedUserSql()));
  const statements = settings.require('VAPID_KEYS')
    ? [db.delete(pushSubscriptions).where(own)]
    : [];
  return session.run(statements, () => {
    if (!settings.require('VAPID_KEYS')) throw new RequestError('notFound');
    return { success: true };
  });
};

export const exportMe: Handler<'exportMe'> = async (scope) => {
  const { session, now } = scope;
  const subject = [exportSubject(session.tokenUserId)];
  return withinLimit(
    session,
    { subject, limits: exportLimits, now, reads: {} },
    async ({ user }) => {
      const day = new Date(now).toISOString().slice(0, 10);
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'content-disposition': `attachment; filename="solace-data-${day}.json"`,
      };
      return new Response(await exportAccount(scope, user.id), { headers });
    },
  );
};

export const deleteMe: Handler<'deleteMe'> = async (scope) => {
  const { session, db } = scope;
  return session.run([leaseOf(db, session.tokenUserId)], async ({ user }, seen) => {
    await deleteAccount(scope, user.id, { seen });
    return { success: true };
  });
};

export const beginPhoneChange: Handler<'beginPhoneChange'> = async (scope) =>
  (await startPhoneChange(scope, scope.input)).map((challenge) => ({
    success: true,
    challenge,
  }));

export const verifyPhoneChange: Handler<'verifyPhoneChange'> = async (scope) => {
  const { phone, otp: code, challenge } = scope.input;
  const moved = await finishPhoneChange(scope, { phone, code, challenge });
  return moved.map((user) => ({
    success: true,
    profile: profileOf(user, scope.now),
  }));
};

export const supportMove: Handler<'supportMove'> = async ({ userId, input, ...scope }) => {
  const { phone, phoneAsSent } = input;
  const [user] = await scope.db.select().from(users).where(eq(users.id, userId));
  if (!user) throw new RequestError('notFound');
  const bound = await boundRowsOf(scope.db, userId);
  const whatsappId = phoneAsSent.slice(1);
  const move = {
    phone,
    whatsappId,
    by: 'support' as const,
    isAllowed: fixed(true),
  };
  await movePhone(scope, { user, bound }, move);
  return { success: true };
};

export const supportErase: Handler<'supportErase'> = async ({ userId, input, ...scope }) => {
  const only = input.onlyContested ? isAccountContestedSql : undefined;
  const isDeleted = await deleteAccount(scope, userId, only && { only });
  if (isDeleted) return { success: true };
  throw new RequestError('conflict', { message: 'The earlier id of the number has written.' });
};

export const supportExport: Handler<'supportExport'> = async ({ userId, ...scope }) =>
  new Response(await exportAccount(scope, userId), {
    headers: { 'content-type': 'application/json; charset=utf-8' },
  });
