import { and, asc, eq, inArray, isNotNull, isNull, or, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import {
  codes,
  customers,
  linkCodes,
  outbox,
  phoneChanges,
  pushSubscriptions,
  sessions,
  trialLinks,
  usedTrials,
  users,
} from '#db/schema';
import { sealData } from '../bot/event-data.ts';
import { queueEvent } from '../bot/outbox.ts';
import { rebindChatKey } from '../chat/chat-keys.ts';
import {
  bindAlias,
  bindSession,
  bindTrialLink,
  isOwnAlias,
  isOwnTrialLink,
} from '../identity/bindings.ts';
import { renameUser } from '../identity/name-user.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { greatest, iif, inJson, plus } from '../lib/expressions.ts';
import { build } from '../lib/sql.ts';
import { sql } from '../lib/sql-text.ts';
import type { Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { carryLeftWeek, currentWeekSql, keepWeek, leftCountSql, usedSql } from '../usage/week.ts';
import {
  endedBySql,
  isOtherSessionSql,
  keptSession,
  type MovingAccount,
  type BoundRow,
  type Move,
} from './moving-account.ts';

type Moving = Transaction<
  'taken' | 'gone' | 'overtaken' | 'alreadyMoved' | 'changed' | 'moved',
  unknown
>;
type NewNames = Awaited<ReturnType<typeof newNamesOf>>;

/** The names and hashes of an account under its new number. */
export async function newNamesOf(settings: Settings, { user, bound }: MovingAccount, move: Move) {
  const { phone, whatsappId } = move;
  const type = 'user.phone_changed';
  const sessionId = keptSession(move);
  const kept = sessionId !== null && {
    sessionId,
    phone,
    isLimited: false,
  };

  const [macs, { business, linkBindings }] = await Promise.all([
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
    bindingMac: inJson<string | null>(JSON.stringify(linkBindings), trialLinks.mac),
    sessionMac: kept ? await bindSession(settings, kept) : null,
    chatKey: await rebindChatKey(settings, user, phone),
    event: {
      type,
      sealed: await sealData(settings, { type, userId: user.id }, previous),
    } as const,
  };
}

/** The effects of `moved` (`moveInDatabase`). */
export async function moveAccount(tx: Moving, to: NewNames): Promise<void> {
  const { user, names, now } = to;
  moveEvents(tx, to);
  deleteCodes(tx, to);
  moveTrials(tx, to);
  renameUser(tx, ['moved'], { userId: user.id, names, now });
  moveSessions(tx, to);
  await moveUser(tx, to);
  deletePhoneChanges(tx, to);
  markCustomer(tx, user.id, now);
}

function moveEvents(tx: Moving, { settings, user, phone, now, event }: NewNames): void {
  const named = sql<string>`json_set(${outbox.body}, '$.data.phone', ${phone})`;
  const body = iif<string>(isNull(inJson(outbox.body, '$.data.phone')), outbox.body, named);
  tx.update(['moved'], outbox, { phone, body }, eq(outbox.userId, user.id));

  const { type, sealed } = event;
  const who = eq(users.id, user.id);
  queueEvent(tx, ['moved'], {
    settings,
    type,
    now,
    who,
    phone,
    data: { sealed },
  });
}

function moveSessions(tx: Moving, { user, move, sessionMac }: NewNames): void {
  const isTheirBrowser = eq(pushSubscriptions.userId, user.id);
  const ofEnded = isOtherSessionSql(pushSubscriptions.sessionId, move);

  tx.delete(['moved'], sessions, endedBySql(user.id, move));
  tx.delete(['moved'], pushSubscriptions, and(isTheirBrowser, ofEnded));
  tx.update(['moved'], sessions, { bindingMac: sessionMac }, eq(sessions.userId, user.id));
}

function deleteCodes(tx: Moving, { user, phone }: NewNames): void {
  tx.delete(['moved'], codes, inArray(codes.phone, [user.phone, phone]));
  tx.delete(['moved'], linkCodes, eq(linkCodes.phone, phone));
}

function deletePhoneChanges(tx: Moving, { user, phone }: NewNames): void {
  const isTheirChange = or(eq(phoneChanges.userId, user.id), eq(phoneChanges.phone, phone));
  tx.delete(['moved'], phoneChanges, isTheirChange);
}

function markCustomer(tx: Moving, userId: string, now: number): void {
  const { dirty, stripeId, stripeAsked } = customers;
  const isAtStripe = or(isNotNull(stripeId), eq(stripeAsked, true));
  const own = and(eq(customers.userId, userId), isAtStripe);
  tx.update(['moved'], customers, { dirty: plus(dirty, 1), dueAt: now }, own);
}

function moveTrials(tx: Moving, to: NewNames): void {
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
  const bound = { phoneMac: to.trialsNow, bindingMac: to.bindingMac };
  // Support moves an account whose number is lost: its unused links were sent there.
  const isLost = to.move.by === 'support' ? eq(trialLinks.isUsed, false) : undefined;
  tx.delete(['moved'], trialLinks, and(theirs, or(isNull(to.bindingMac), isLost)));
  tx.update(['moved'], trialLinks, bound, theirs);
}

/**
 * The old number keeps its count until the week ends, as after a deletion. Of what
 * both numbers have used the greater count stands. A paid week goes on as it is.
 */
async function moveUser(tx: Moving, to: NewNames): Promise<void> {
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
    isContested: false,
    chatKey: chatKey?.chatKey ?? null,
    chatKeyId: chatKey?.chatKeyId ?? null,
    used: unlessPaid(users.used, greatest(usedSql(now), ofNumber)),
    weekStart: unlessPaid(users.weekStart, currentWeekSql(now)),
    usageSeq: plus(users.usageSeq, 1),
  };
  tx.update(['moved'], users, changes, own);
}

/** A row that our key did not bind to the old number is not bound to the new one. */
async function boundAnew(settings: Settings, { user, bound }: MovingAccount, phone: PhoneNumber) {
  const owned = await Promise.all(bound.map((row) => isOwnRow(settings, user.phone, row)));
  const own = bound.filter((_, index) => owned[index]);
  const id = own.find(({ kind }) => kind === 'alias')?.value;
  const links = own.filter(({ kind }) => kind === 'trialLink');
  const linkBindings = await Promise.all(
    links.map(async ({ value }) => [value, await bindTrialLink(settings, value, phone)]),
  );
  return {
    business:
      id === undefined
        ? null
        : {
            id,
            bindingMac: await bindAlias(settings, id, phone),
          },
    linkBindings: Object.fromEntries(linkBindings) as Record<string, string>,
  };
}

function isOwnRow(settings: Settings, phone: PhoneNumber, { kind, value, bindingMac }: BoundRow) {
  return kind === 'alias'
    ? isOwnAlias(settings, { value, phone, bindingMac })
    : isOwnTrialLink(settings, { linkMac: value, phone, bindingMac });
}
