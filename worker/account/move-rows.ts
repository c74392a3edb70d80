import { and, asc, eq, inArray, isNotNull, isNull, ne, not, or, type SQL } from 'drizzle-orm';
import { union, type SQLiteColumn } from 'drizzle-orm/sqlite-core';
import {
  aliases,
  codes,
  customers,
  linkCodes,
  outbox,
  phoneChanges,
  pushSubscriptions,
  sessions,
  trialLinks,
  usedTokens,
  usedTrials,
  users,
  type User,
} from '#db/schema';
import { sealData } from '../bot/event-data.ts';
import { queueEvent } from '../bot/outbox.ts';
import { rebindChatKey } from '../chat/chat-keys.ts';
import { renameUser } from '../identity/name-user.ts';
import { userOfSql } from '../identity/aliases.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import {
  bindAlias,
  bindSession,
  bindTrialLink,
  isOwnAlias,
  isOwnTrialLink,
} from '../identity/bindings.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { countOnDay } from '../lib/daily-totals.ts';
import type { Database } from '../lib/database.ts';
import {
  fixed,
  greatest,
  iif,
  inJson,
  isSame,
  oneRow,
  plus,
  rowExists,
  valuesOf,
} from '../lib/expressions.ts';
import { build, isIn } from '../lib/sql.ts';
import { transaction, type Transaction } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import type { Settings } from '../settings.ts';
import { carryLeftWeek, currentWeekSql, keepWeek, leftCountSql, usedSql } from '../usage/week.ts';
import type { Scope } from '../request-scope.ts';

type MovedBy = { by: 'code'; keeps: string | null } | { by: 'support' };

export type Move = MovedBy & {
  phone: PhoneNumber;
  whatsappId: string;
  /** What must still hold when the move is written. */
  isAllowed: SQL;
  marker?: typeof usedTokens.$inferInsert;
};

export const keptSession = (move: MovedBy) => (move.by === 'code' ? move.keeps : null);

type BoundRow = {
  kind: 'alias' | 'trialLink';
  value: string;
  mac: string | null;
};

export type Account = { user: User; bound: BoundRow[] };

const isBusinessOf = (userId: string) =>
  and(eq(aliases.userId, userId), eq(aliases.kind, 'business'));

export function boundRowsOf(db: Database, userId: string) {
  return union(
    db
      .select({
        kind: fixed<BoundRow['kind']>('alias'),
        value: aliases.value,
        mac: aliases.mac,
      })
      .from(aliases)
      .where(isBusinessOf(userId)),
    db
      .select({
        kind: fixed<BoundRow['kind']>('trialLink'),
        value: trialLinks.mac,
        mac: trialLinks.ownerMac,
      })
      .from(trialLinks)
      .where(eq(trialLinks.userId, userId)),
  );
}

function hasMoreRows({ user, bound }: Account): SQL {
  const known = bound.find(({ kind }) => kind === 'alias');
  const isKnown = and(
    isSame(aliases.value, known?.value ?? null),
    isSame(aliases.mac, known?.mac ?? null),
  )!;
  const links = bound.filter(({ kind }) => kind === 'trialLink').map(({ value }) => value);
  const ofUser = eq(trialLinks.userId, user.id);
  return or(
    rowExists(aliases, and(isBusinessOf(user.id), not(isKnown))),
    rowExists(trialLinks, and(ofUser, not(isIn(trialLinks.mac, links)))),
  )!;
}

/**
 * One transaction of a move; `found` is the account afterwards, `ended` the sessions. For
 * `after-restore`, too, which has no live objects. The first condition that holds decides:
 *
 * | outcome        | condition                      | `movePhone`                     | rows      |
 * | -------------- | ------------------------------ | ------------------------------- | --------- |
 * | `taken`        | somebody else has the number   | 409                             | none      |
 * | `gone`         | the account was deleted        | 401                             | none      |
 * | `overtaken`    | `isAllowed` holds no more: by  | 401 `code_spent`                | none      |
 * |                | a code, if another change was  |                                 |           |
 * |                | first, or the session has      |                                 |           |
 * |                | ended                          |                                 |           |
 * | `alreadyMoved` | the account has the number: a  | the user                        | none      |
 * |                | repeated move by support       |                                 |           |
 * | `changed`      | number, chat key, id or a      | again, at most five times, then | none      |
 * |                | trial link is another than was | 503                             |           |
 * |                | read                           |                                 |           |
 * | `moved`        | none of these                  | the user                        | see below |
 *
 * - `aliases`, `outbox` and `trial_links` become the new number's
 * - `used_trials` and the count of the week hold for both numbers: `left_weeks` keeps for the old
 *   one a week that has not ended, and for the new one what was left at the old one
 * - the chat key of `users`, and the session that is kept, are bound to the new number
 * - all other `sessions` end, with their `push_subscriptions`
 * - `codes` of both numbers, `link_codes` of the new one, and `phone_changes` of the account or to
 *   the new number are deleted; so are an id and trial links that were not bound to the old
 *   number, by support any id and each unused link
 * - `user.phone_changed` is queued in `outbox`, unless 43 events wait or there is no bot
 * - `customers` is due if it is at Stripe; `daily_totals` + 1; `used_tokens` gets the marker of a
 *   restore
 *
 * After the response `movePhone` ends streams and tells the bot and Stripe. Of parallel moves by
 * code one is `moved`, and the others are `overtaken`.
 */
export async function moveInDatabase(
  { db, settings }: Scope<'db' | 'settings'>,
  account: Account,
  move: Move,
) {
  const { user } = account;
  const tx = decideMove(db, account, move);

  const to = await renumberingOf(settings, account, move);
  if (move.marker) tx.insert(['moved'], usedTokens, move.marker);
  countOnDay(tx, ['moved'], { kind: 'number_change' }, to.now);

  renumberEvents(tx, to);
  deleteCodes(tx, to);
  renumberTrials(tx, to);
  renameUser(tx, ['moved'], {
    userId: user.id,
    names: to.names,
    now: to.now,
  });
  renumberSessions(tx, to);
  await renumberUser(tx, to);
  deletePhoneChanges(tx, to);
  markCustomer(tx, user.id, to.now);

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

function decideMove(db: Database, account: Account, move: Move) {
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
        not(hasMoreRows(account)),
      )!,
      ended: valuesOf(sessions.id, endedBy(user.id, move)),
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

type Moving = Transaction<
  'taken' | 'gone' | 'overtaken' | 'alreadyMoved' | 'changed' | 'moved',
  unknown
>;
type Renumbering = Awaited<ReturnType<typeof renumberingOf>>;

async function renumberingOf(settings: Settings, { user, bound }: Account, move: Move) {
  const { phone, whatsappId } = move;
  const type = 'user.phone_changed';
  const sessionId = keptSession(move);
  const kept = sessionId !== null && {
    sessionId,
    phone,
    isLimited: false,
  };

  const [macs, { business, ownerMacs }] = await Promise.all([
    Promise.all(
      [user.phone, phone].map((each) => keyedHashes(settings.CODE_PEPPER, 'phone', each)),
    ),
    boundAnew(settings, { user, bound }, phone),
  ]);
  const [trialsBefore, [trialsNow]] = macs as [string[], [string]];
  const whatsapp = { id: whatsappId, proof: 'typed' as const };
  const previous = { previousPhone: user.phone };

  return {
    settings,
    user,
    phone,
    now: Date.now(),
    move,
    names: { phone, proof: move.by, whatsapp, business },
    trialsBefore,
    trialsNow,
    /** SQL: null for a trial link that was not the old number's. */
    ownerMac: inJson<string | null>(JSON.stringify(ownerMacs), trialLinks.mac),
    sessionMac: kept ? await bindSession(settings, kept) : null,
    chatKey: await rebindChatKey(settings, user, phone),
    event: { type, sealed: await sealData(settings, { type, userId: user.id }, previous) } as const,
  };
}

function renumberEvents(tx: Moving, { settings, user, phone, now, event }: Renumbering): void {
  const named = sql<string>`json_set(${outbox.body}, '$.data.phone', ${phone})`;
  const body = iif<string>(isNull(inJson(outbox.body, '$.data.phone')), outbox.body, named);
  tx.update(['moved'], outbox, { phone, body }, eq(outbox.userId, user.id));

  const { type, sealed } = event;
  const who = eq(users.id, user.id);
  queueEvent(tx, ['moved'], { settings, type, now, who, phone, data: { sealed } });
}

function endedBy(userId: string, move: Move): SQL {
  return and(eq(sessions.userId, userId), isAnother(sessions.id, move))!;
}

function isAnother(sessionId: SQLiteColumn, move: Move): SQL | undefined {
  const kept = keptSession(move);
  return kept === null ? undefined : ne(sessionId, kept);
}

function renumberSessions(tx: Moving, { user, move, sessionMac }: Renumbering): void {
  const browsers = eq(pushSubscriptions.userId, user.id);
  const ofEnded = isAnother(pushSubscriptions.sessionId, move);

  tx.delete(['moved'], sessions, endedBy(user.id, move));
  tx.delete(['moved'], pushSubscriptions, and(browsers, ofEnded));
  tx.update(['moved'], sessions, { mac: sessionMac }, eq(sessions.userId, user.id));
}

function deleteCodes(tx: Moving, { user, phone }: Renumbering): void {
  tx.delete(['moved'], codes, inArray(codes.phone, [user.phone, phone]));
  tx.delete(['moved'], linkCodes, eq(linkCodes.phone, phone));
}

function deletePhoneChanges(tx: Moving, { user, phone }: Renumbering): void {
  const changes = or(eq(phoneChanges.userId, user.id), eq(phoneChanges.phone, phone));
  tx.delete(['moved'], phoneChanges, changes);
}

function markCustomer(tx: Moving, userId: string, now: number): void {
  const { dirty, stripeId, stripeAsked } = customers;
  const isAtStripe = or(isNotNull(stripeId), eq(stripeAsked, true));
  const own = and(eq(customers.userId, userId), isAtStripe);
  tx.update(['moved'], customers, { dirty: plus(dirty, 1), dueAt: now }, own);
}

function renumberTrials(tx: Moving, to: Renumbering): void {
  const first = build
    .select({ at: usedTrials.at })
    .from(usedTrials)
    .where(inArray(usedTrials.phoneMac, to.trialsBefore))
    .orderBy(asc(usedTrials.at))
    .limit(1)
    .as('theirs');
  const used = { phoneMac: to.trialsNow, at: first.at.getSQL() };
  tx.insert(['moved'], usedTrials, used, { from: first, upsert: 'ignore' });

  const theirs = eq(trialLinks.userId, to.user.id);
  const bound = { phoneMac: to.trialsNow, ownerMac: to.ownerMac };
  // Support moves an account whose number is lost: its unused links were sent there.
  const isLost = to.move.by === 'support' ? eq(trialLinks.isUsed, false) : undefined;
  tx.delete(['moved'], trialLinks, and(theirs, or(isNull(to.ownerMac), isLost)));
  tx.update(['moved'], trialLinks, bound, theirs);
}

/**
 * The old number keeps its count until the week ends, as after a deletion. Of what
 * both numbers have used the greater count stands. A paid week goes on as it is.
 */
async function renumberUser(tx: Moving, to: Renumbering): Promise<void> {
  const { settings, user, phone, now, chatKey } = to;
  const own = eq(users.id, user.id);
  const before = { phone: user.phone, settings, now };
  await keepWeek(tx, ['moved'], before, own);
  await carryLeftWeek(tx, ['moved'], before, phone);

  const ofNumber = await leftCountSql({ phone, settings, now });
  const unlessPaid = (column: SQLiteColumn, value: SQL) =>
    iif<number>(users.weekFrozen, column, value);
  const changes = {
    phone,
    chatKey: chatKey?.chatKey ?? null,
    chatKeyId: chatKey?.chatKeyId ?? null,
    used: unlessPaid(users.used, greatest(usedSql(now), ofNumber)),
    weekStart: unlessPaid(users.weekStart, currentWeekSql(now)),
    usageSeq: plus(users.usageSeq, 1),
  };
  tx.update(['moved'], users, changes, own);
}

/** A row that our key did not bind to the old number is not bound to the new one. */
async function boundAnew(settings: Settings, { user, bound }: Account, phone: PhoneNumber) {
  const owned = await Promise.all(bound.map((row) => isOwnRow(settings, user.phone, row)));
  const own = bound.filter((_, index) => owned[index]);
  const id = own.find(({ kind }) => kind === 'alias')?.value;
  const links = own.filter(({ kind }) => kind === 'trialLink');
  const ownerMacs = await Promise.all(
    links.map(async ({ value }) => [value, await bindTrialLink(settings, value, phone)]),
  );
  return {
    business: id === undefined ? null : { id, mac: await bindAlias(settings, id, phone) },
    ownerMacs: Object.fromEntries(ownerMacs) as Record<string, string>,
  };
}

function isOwnRow(settings: Settings, phone: PhoneNumber, { kind, value, mac }: BoundRow) {
  return kind === 'alias'
    ? isOwnAlias(settings, { value, phone, mac })
    : isOwnTrialLink(settings, { linkMac: value, phone, mac });
}
