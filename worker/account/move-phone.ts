import { gt } from 'drizzle-orm';
import { customers, type User } from '#db/schema';
import { syncUser } from '../billing/sync.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { RequestError } from '../lib/request-error.ts';
import { endStreams, expectEnd, publish } from '../live/publish.ts';
import type { EnvScope } from '../env.ts';
import { moveInDatabase } from './move-rows.ts';
import { keptSession, type MovingAccount, type Move } from './moving-account.ts';

const triesAtOnce = 5;

/**
 * Throws 409 for a taken number, 401 for a deleted account or an overtaken change (`codeSpent`),
 * 503 if the account keeps changing.
 */
export async function movePhone(scope: EnvScope, before: MovingAccount, move: Move): Promise<User> {
  let account = before;
  for (let count = 0; count < triesAtOnce; count += 1) {
    // If the response is lost, this alone ends the streams (`live/ended-sessions.ts`).
    expectEnd(scope, account.user.id);
    const { outcome, found, ended } = await moveInDatabase(scope, account, move);

    switch (outcome) {
      case 'moved':
        finishMove(scope, found.user, keptSession(move) === null ? everySession : ended);
        return found.user;
      case 'alreadyMoved':
        return found.user;
      case 'taken':
        throw new RequestError('conflict', { message: 'Somebody has this number by now.' });
      case 'gone':
        throw new RequestError('unauthenticated');
      // By a code alone: another change has removed this one since, and the code is used up.
      case 'overtaken':
        throw new RequestError('codeSpent');
      case 'changed':
        account = found;
    }
  }
  throw new RequestError('unavailable', { retryAfter: 1 });
}

const everySession = [null];

const isMarked = gt(customers.dirty, customers.synced);

/** If this is lost, the live object and the cron job do the same. */
function finishMove(scope: EnvScope, user: User, ended: (string | null)[]): void {
  const { db, env, settings, waitUntil } = scope;
  for (const sessionId of ended) endStreams(scope, user.id, sessionId);
  waitUntil(publish(env, user.id, { kind: 'changed' }));
  waitUntil(deliverSoon(db, settings, user.id));
  waitUntil(scheduler.wait(0).then(() => syncUser(scope, user.id, isMarked)));
}
