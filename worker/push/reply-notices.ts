import { and, asc, count, desc, eq, gt, gte, inArray, notInArray, type SQL } from 'drizzle-orm';
import { pushSubscriptions, rateLimitEvents, sessions, users } from '#db/schema';
import type { ExportSection } from '../identity/user-record.ts';
import type { UserSession } from '../identity/user-session.ts';
import { brand } from '../contract/brand.ts';
import { languages, type Language } from '../contract/languages.ts';
import type { Notice } from '../contract/push.ts';
import type { Database } from '../lib/database.ts';
import { keyedHash } from '../lib/crypto.ts';
import { describeError, log } from '../lib/log.ts';
import { iif } from '../lib/expressions.ts';
import { postOutside } from '../lib/post-outside.ts';
import { build, excluded, insertSelect, upsertSelect } from '../lib/sql.ts';
import { sql } from '../lib/sql-text.ts';
import type { KeyPair } from '../setting-rules.ts';
import type { Settings } from '../settings.ts';
import type { Scope } from '../request-scope.ts';
import { encryptPush, vapidHeader, type SubscriptionKeys } from './web-push.ts';

type NoticeSubscription = { endpoint: string; keys: SubscriptionKeys };

const mostSubscriptions = 10;
const table = pushSubscriptions;

/** https, or one of the origins of `PUSH_HOSTS`. */
export function isPushService(settings: Settings, endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { protocol, hostname, port, username, password, origin } = new URL(endpoint);
  if (username || password) return false;
  const isPublic = protocol === 'https:' && port === '';
  return settings.require('PUSH_HOSTS').some((host) => {
    if (host.includes('://')) return host === origin;
    return (
      isPublic && (host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host)
    );
  });
}

/**
 * Writes the browser's row in `push_subscriptions`, which becomes this session's, and deletes all
 * but the newest of the account (`mostSubscriptions`); without the right to call, nothing.
 */
export function subscribeSql(
  session: UserSession,
  { endpoint, keys }: NoticeSubscription,
  { ring, language, now }: { ring: KeyPair[]; language: Language; now: number },
): [SQL, SQL] {
  const row = {
    endpoint,
    userId: sessions.userId.getSQL(),
    sessionId: sessions.id.getSQL(),
    ...keys,
    publicKey: ring[0]!.publicKey,
    language,
    createdAt: now,
    expiresAt: sessions.expiresAt.getSQL(),
  };

  const isLive = and(
    eq(sessions.id, session.sessionId),
    eq(sessions.userId, session.admittedUserSql()),
  );
  const insert = insertSelect(table, row, sql`from ${sessions} where ${isLive}`);

  const isSame = eq(table.p256dh, excluded(table.p256dh));
  const inUse = inArray(
    table.publicKey,
    ring.map(({ publicKey }) => publicKey),
  );
  const set = {
    userId: excluded(table.userId),
    sessionId: excluded(table.sessionId),
    p256dh: excluded(table.p256dh),
    auth: excluded(table.auth),
    publicKey: iif<string>(and(isSame, inUse), table.publicKey, excluded(table.publicKey)),
    language: excluded(table.language),
    createdAt: excluded(table.createdAt),
    expiresAt: excluded(table.expiresAt),
  };

  const newest = build
    .select({ endpoint: table.endpoint })
    .from(table)
    .where(eq(table.userId, session.tokenUserId))
    .orderBy(desc(table.createdAt), sql`rowid desc`)
    .limit(mostSubscriptions);
  const isOlder = and(
    eq(table.userId, session.admittedUserSql()),
    notInArray(table.endpoint, newest),
  );

  return [
    upsertSelect(insert, table, { target: [table.endpoint], set }),
    build.delete(table).where(isOlder).getSQL(),
  ];
}

/** SQL that runs after the deletion of the sessions. */
export function deleteEndedSubscriptionsSql(userId: string | SQL): SQL {
  const left = build.select({ id: sessions.id }).from(sessions).where(eq(sessions.userId, userId));
  return build
    .delete(table)
    .where(and(eq(table.userId, userId), notInArray(table.sessionId, left)))
    .getSQL();
}

/** The address and the keys of a subscription are secrets. */
export const exportNotices: ExportSection = async ({ user, db }) => {
  const { endpoint, language, createdAt, expiresAt } = table;
  const rows = await db
    .select({ endpoint, language, createdAt, expiresAt })
    .from(table)
    .where(eq(table.userId, user.id))
    .orderBy(asc(createdAt));
  return {
    notices: rows.map(({ endpoint: address, ...rest }) => ({
      service: new URL(address).host,
      ...rest,
    })),
  };
};

const titles: Record<Language, string> = {
  en: `${brand.companion} has replied`,
  es: `${brand.companion} te respondió`,
  'pt-BR': `O ${brand.companion} respondeu`,
};

export type Subscriber = Omit<
  typeof pushSubscriptions.$inferSelect,
  'userId' | 'sessionId' | 'expiresAt'
>;

export function subscribersOf(db: Database, userId: SQL<string | null>, now: number) {
  const { endpoint, p256dh, auth, publicKey, language, createdAt } = table;
  const live = and(
    eq(table.userId, userId),
    eq(users.status, 'approved'),
    gt(sessions.expiresAt, now),
  );
  return db
    .select({ endpoint, p256dh, auth, publicKey, language, createdAt })
    .from(table)
    .innerJoin(users, eq(users.id, table.userId))
    .innerJoin(sessions, and(eq(sessions.id, table.sessionId), eq(sessions.userId, table.userId)))
    .where(live);
}

/** Never throws, since the reply itself is stored. */
export async function notifyOfReply(
  scope: Scope<'db' | 'settings'>,
  subscribers: Subscriber[],
): Promise<void> {
  if (!scope.settings.require('VAPID_KEYS')) return;
  await Promise.all(
    subscribers.map((each) =>
      notify(scope, each).catch((error: unknown) =>
        log('error', 'notice_failed', describeError(error)),
      ),
    ),
  );
}

const timeoutMs = 10_000;
/** A day later the reply is no news. */
const keptSeconds = 24 * 60 * 60;
/** A browser that is offline gets the newest alone. */
const topic = 'reply';

async function notify(
  { db, settings }: Scope<'db' | 'settings'>,
  subscriber: Subscriber,
): Promise<void> {
  const { endpoint, publicKey, language, createdAt } = subscriber;
  const key = settings.require('VAPID_KEYS')!.find((each) => each.publicKey === publicKey);

  const isUsable = key !== undefined && isPushService(settings, endpoint);
  const status = isUsable ? await post(subscriber, key, noticeIn(language)) : 410;

  if (status === 404 || status === 410) {
    const same = and(eq(table.endpoint, endpoint), eq(table.createdAt, createdAt));
    await db.delete(table).where(same);
  } else if (status >= 300) {
    log('error', 'notice_refused', { status });
    if (forGood.has(status)) await countRefusal({ db, settings }, subscriber);
  }
}

/** One refusal may be a mistake of the service, three are none. */
const forGood = new Set([400, 401, 403]);
const refusalsToEnd = 3;

async function countRefusal(
  { db, settings }: Scope<'db' | 'settings'>,
  { endpoint, createdAt }: Subscriber,
): Promise<void> {
  const subject = `notices:${await keyedHash(settings.CODE_PEPPER[0]!, 'push', endpoint)}`;
  const event = {
    subject,
    at: Date.now(),
    by: crypto.randomUUID(),
  };

  const refusals = build
    .select({ n: count() })
    .from(rateLimitEvents)
    .where(eq(rateLimitEvents.subject, subject));
  const ended = gte(sql`${refusals}`, refusalsToEnd);

  await db.batch([
    db.insert(rateLimitEvents).values(event),
    db
      .delete(table)
      .where(and(eq(table.endpoint, endpoint), eq(table.createdAt, createdAt), ended)),
  ]);
}

function noticeIn(language: Language): Notice {
  const { path } = languages.find(({ tag }) => tag === language)!;
  return { title: titles[language], path: `${path}/chat` };
}

async function post(
  { endpoint, p256dh, auth }: Subscriber,
  key: KeyPair,
  notice: Notice,
): Promise<number> {
  const response = await postOutside(endpoint, {
    headers: {
      authorization: await vapidHeader(key, {
        endpoint,
        contact: `mailto:${brand.supportEmail}`,
        now: Date.now(),
      }),
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(keptSeconds),
      urgency: 'high',
      topic,
    },
    body: await encryptPush(JSON.stringify(notice), { p256dh, auth }),
    timeoutMs,
  });
  await response.body?.cancel();
  return response.status;
}
