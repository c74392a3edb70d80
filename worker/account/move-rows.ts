import { and, eq, isNotNull, ne, not } from 'drizzle-orm';
import { sessions, usedTokens, users } from '#db/schema';
import { userOfSql } from '../identity/aliases.ts';
import { countOnDay } from '../lib/daily-totals.ts';
import type { Database } from '../lib/database.ts';
import { isSame, oneRow, valuesOf } from '../lib/expressions.ts';
import { transaction } from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import {
  boundRowsOf,
  endedBySql,
  hasMoreRowsSql,
  type MovingAccount,
  type Move,
} from './moving-account.ts';
import { moveAccount, newNamesOf } from './move-account.ts';

/**
 * One transaction of a move; `found` is the account afterwards, `ended` the sessions. As
 * `operations/after-restore` calls it, too, outside the Worker, it announces nothing. The first
 * condition that holds decides:
 *
 * | outcome        | condition                      | `movePhone`                     | rows      |
 * | -------------- | ------------------------------ | ------------------------------- | --------- |
 * | `taken`        | somebody else has the number   | 409                             | none      |
 * | `gone`         | the account was deleted        | 401                             | none      |
 * | `overtaken`    | `isAllowed` holds no more. Of  | 401 `code_spent`                | none      |
 * |                | a move by code: a move has     |                                 |           |
 * |                | deleted its change, or its     |                                 |           |
 * |                | session may not act any more   |                                 |           |
 * | `alreadyMoved` | the account has the number: a  | the user                        | none      |
 * |                | repeated move by support       |                                 |           |
 * | `changed`      | number, chat key, id or a      | again, five tries in all, then  | none      |
 * |                | trial link is another than was | 503                             |           |
 * |                | read                           |                                 |           |
 * | `moved`        | none of these                  | the user                        | see below |
 *
 * The rows of `moved` (`move-account.ts`):
 *
 * - `users` gets the number, its chat key bound to it, `usage_seq` + 1, and, unless its week is
 *   paid, the present `week_start`, and as `used` the greater count of both numbers
 * - `aliases`: the number (a contest ends), the new spelling instead of the old one, and the id as
 *   one of an `earlier-number`; `outbox` and `trial_links` become the new number's
 * - `used_trials` hold for both numbers, and so does in `left_weeks` the count of a week that has
 *   not ended; the greater count stands
 * - the session that is kept is bound to the new number
 * - all other `sessions` end, with their `push_subscriptions`
 * - `codes` of both numbers, `link_codes` of the new one, and `phone_changes` of the account or to
 *   the new number are deleted; so are an id and trial links that were not bound to the old
 *   number, by support any id and each unused link
 * - `user.phone_changed` is queued in `outbox`, unless 43 events of the account wait that are no
 *   messages, or there is no bot
 * - `customers` is due if it is at Stripe; `daily_totals` + 1; `used_tokens` gets the marker of a
 *   restore
 *
 * A chat key that no secret of `CHAT_KEYS` opens throws 503 before, whatever would be decided.
 *
 * After the response `movePhone` ends streams and tells the bot and Stripe. Of parallel moves of
 * an account by code one is `moved`, and the others are `overtaken`; of two accounts to one
 * number the second is `taken`. After a lost response the account may have moved: the same call is
 * then 401 `invalid_code` (`verify-phone-change.ts`), by support `alreadyMoved`.
 */
export async function moveInDatabase(
  { db, settings }: Scope<'db' | 'settings'>,
  account: MovingAccount,
  move: Move,
) {
  const { user } = account;
  const tx = decideMove(db, account, move);

  const to = await newNamesOf(settings, account, move);
  if (move.marker) tx.insert(['moved'], usedTokens, move.marker);
  countOnDay(tx, ['moved'], { kind: 'number_change' }, to.now);

  await moveAccount(tx, to);

  const { outcome, facts, reads } = await tx.run({
    found: db.select().from(users).where(eq(users.id, user.id)),
    bound: boundRowsOf(db, user.id),
  });

  // SQLite stores a list among the facts as text.
  const ended = JSON.parse(facts.ended) as string[];
  return {
    outcome,
    found: { user: reads.found[0]!, bound: reads.bound },
    ended,
  };
}

function decideMove(db: Database, account: MovingAccount, move: Move) {
  const { user } = account;
  return transaction(db, {
    from: oneRow([users, eq(users.id, user.id)]),
    facts: {
      holder: userOfSql('phone', move.phone),
      isKnown: isNotNull(users.id),
      isAllowed: move.isAllowed,
      hasNumber: eq(users.phone, move.phone),
      isUnchanged: and(
        eq(users.phone, user.phone),
        isSame(users.chatKey, user.chatKey),
        not(hasMoreRowsSql(account)),
      )!,
      ended: valuesOf(sessions.id, endedBySql(user.id, move)),
    },

    outcomes: ({ holder, isKnown, isAllowed, hasNumber, isUnchanged }) => ({
      taken: ne(holder, user.id),
      gone: not(isKnown),
      overtaken: not(isAllowed),
      alreadyMoved: hasNumber,
      changed: not(isUnchanged),
    }),
    otherwise: 'moved',
  });
}
