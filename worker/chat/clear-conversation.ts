import { and, asc, eq, isNotNull, lte, not, type SQL } from 'drizzle-orm';
import { chatErasures, users, type User } from '#db/schema';
import type { Authorized, UserSession } from '../identity/user-session.ts';
import { replaceEvent } from '../bot/outbox.ts';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import { oneRow } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { minuteMs } from '../lib/time.ts';
import { transaction } from '../lib/transaction.ts';
import { liveUserOf } from '../live/publish.ts';
import type { Scope } from '../request-scope.ts';
import { newChatKey, type ChatUser } from './chat-keys.ts';
import { clearConversation } from './clear-statements.ts';

/**
 * `moved` (number or session have changed, or the consent has ended): throws 503, and writes
 * nothing. `cleared`: writes what `clearConversation` says, under a new key. The live object
 * deletes its messages after the response (`confirmCleared`); a parallel call clears once more.
 */
export async function clearChatOf(
  scope: Scope<'db' | 'settings' | 'now'>,
  { id, phone }: ChatUser,
  session: SQL,
): Promise<void> {
  const fresh = await newChatKey(scope.settings, { id, phone });
  const own = and(eq(users.id, session), eq(users.phone, phone), isNotNull(users.chatKey))!;

  const tx = transaction(scope.db, {
    from: oneRow([users, own]),
    facts: { isOwn: isNotNull(users.id) },
    outcomes: ({ isOwn }) => ({ moved: not(isOwn) }),
    otherwise: 'cleared',
  });
  clearConversation(tx, ['cleared'], scope, { id, next: fresh });
  const { outcome } = await tx.run();

  if (outcome === 'moved') throw new RequestError('unavailable', { retryAfter: 1 });
}

/**
 * `withoutConsent` (there is no chat key) writes nothing. `withdrawn` writes what
 * `clearConversation` says, without a new key, and a `chat.consent` in `outbox` replaces one that
 * waits. A parallel or repeated call is `withoutConsent`; both respond the same.
 */
export function withdrawConsent<T>(
  scope: Scope<'db' | 'settings' | 'now'> & { session: UserSession },
  respond: (withdrawn: { user: User; isNew: boolean }) => T,
): Promise<Authorized<T>> {
  const { session, settings, now } = scope;
  const id = session.tokenUserId;

  return session.decide({
    facts: { hasChat: isNotNull(users.chatKey) },
    outcomes: ({ hasChat }) => ({ withoutConsent: not(hasChat) }),
    otherwise: 'withdrawn',

    effects: (tx) => {
      clearConversation(tx, ['withdrawn'], scope, { id, next: null });
      const who = eq(users.id, id);
      const data = { version: null };
      replaceEvent(tx, ['withdrawn'], {
        settings,
        type: 'chat.consent',
        now,
        who,
        data,
      });
    },

    respond: ({ user, outcome }) =>
      respond({
        user,
        isNew: outcome === 'withdrawn',
      }),
  });
}

export async function confirmCleared(
  env: Env,
  db: Database,
  userId: string,
  epoch: number,
): Promise<void> {
  await liveUserOf(env, userId).clear(epoch);
  await db
    .delete(chatErasures)
    .where(and(eq(chatErasures.userId, userId), eq(chatErasures.epoch, epoch)));
}

const mostAtOnce = 50;
const retryMs = 5 * minuteMs;

type Erasure = typeof chatErasures.$inferSelect;

export async function eraseConversations(env: Env, db: Database, now: number): Promise<void> {
  const due = await db
    .select()
    .from(chatErasures)
    .where(lte(chatErasures.dueAt, now))
    .orderBy(asc(chatErasures.dueAt))
    .limit(mostAtOnce);
  for (const erasure of due) {
    await erase(env, db, erasure).catch(async () => {
      log('error', 'chat_erasure_failed', { waitingMs: now - erasure.createdAt });
      const retryAt = { dueAt: now + retryMs };
      await db.update(chatErasures).set(retryAt).where(eq(chatErasures.userId, erasure.userId));
    });
  }
}

async function erase(env: Env, db: Database, { userId, epoch }: Erasure): Promise<void> {
  if (epoch !== null) return confirmCleared(env, db, userId, epoch);
  await liveUserOf(env, userId).erase();
  await db.delete(chatErasures).where(eq(chatErasures.userId, userId));
}
