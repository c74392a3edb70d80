import { and, eq, isNotNull, lte, not, sql, type SQL } from 'drizzle-orm';
import * as v from 'valibot';
import { customers, usedTokens, users, type User } from '#db/schema';
import { userOfSql } from '../../identity/aliases.ts';
import { CanonicalPhone } from '../../identity/phone.ts';
import { moveInDatabase } from '../../account/move-rows.ts';
import { type MovingAccount, boundRowsOf, type Move } from '../../account/moving-account.ts';
import { clearConversation } from '../../chat/clear-statements.ts';
import { moneyWithCode } from '../../contract/money.ts';
import { isTrue, oneRow, rowExists } from '../../lib/expressions.ts';
import { keyedHash } from '../../lib/crypto.ts';
import { insertSelect, upsertSelect } from '../../lib/sql.ts';
import { transaction } from '../../lib/transaction.ts';
import { mark, marked, markerOf, type Report, type Restore, type RestoreStep } from './restore.ts';
import { acceptedSince, type AcceptedEvent } from './accepted-events.ts';

export const repeatEvents: RestoreStep = {
  name: 'events',
  async run(restore) {
    const all: Report = { done: [], unknown: [] };
    for (const event of await acceptedSince(restore.settings, restore)) {
      const outcome = await repeatOnce(restore, event);
      if (outcome === 'nothing') continue;
      const line = `${event.timestamp}: ${lineOf(event, outcome)}`;
      all[outcome === 'repeated' ? 'done' : 'unknown'].push(line);
    }
    return all;
  },
};

/** `unknown`: the owner has to look. */
type Outcome = 'repeated' | 'unknown' | 'nothing';
type Act = (restore: Restore, event: AcceptedEvent, name: string) => Promise<Outcome>;

const acts: Record<string, Act> = {
  'user.deleted': leave,
  'user.phone_changed': move,
  'user.approved': setStatus,
  'chat.consent': withdraw,
  'withdrawal.received': reportToOwner,
  'withdrawal.refunded': reportToOwner,
};

/** With each move a number may mean another person. */
async function repeatOnce(restore: Restore, event: AcceptedEvent): Promise<Outcome> {
  const { db, settings, at, isDry } = restore;
  const act = acts[event.type];
  if (!act) return 'nothing';

  const name = await keyedHash(settings.CODE_PEPPER[0]!, 'restore', JSON.stringify(event));
  const before = await marked(db, at, name);
  if (before !== null) return before as Outcome;

  const outcome = await act(restore, event, name);
  if (!isDry) await mark(db, at, name, outcome);
  return outcome;
}

const Named = v.object({
  userId: v.optional(v.string()),
  phone: v.optional(CanonicalPhone),
});
const Status = v.picklist(['approved', 'pending']);
const Announced = v.object({
  phone: CanonicalPhone,
  amount: v.optional(v.number()),
  currency: v.optional(v.pipe(v.string(), v.regex(/^[a-z]{3}$/))),
});
const Move = v.object({ phone: CanonicalPhone, previousPhone: CanonicalPhone });

function lineOf({ type, data }: AcceptedEvent, outcome: Outcome): string {
  const who = String(data['phone'] ?? data['userId']);
  switch (type) {
    case 'user.deleted':
      return `${who} had left: deleted again`;
    case 'user.approved':
      return `${who} was ${String(data['status'])}: set again`;
    case 'user.phone_changed': {
      const moved = `${String(data['previousPhone'])} had moved to ${who}`;
      return outcome === 'repeated'
        ? `${moved}: moved again`
        : `${moved}, which somebody else has by now: ask both, then \`support move\``;
    }
    case 'withdrawal.received':
      return `${who} was told of a statement of withdrawal, which is lost: the bot has its receipt`;
    case 'withdrawal.refunded': {
      const sum = moneyWithCode(Number(data['amount']), String(data['currency']));
      return `${who} was told that ${sum} are on their way: do not pay them again`;
    }
    default:
      return `${who} had withdrawn the consent: withdrawn again`;
  }
}

async function reportToOwner(_: Restore, { data }: AcceptedEvent): Promise<Outcome> {
  return v.is(Announced, data) ? 'unknown' : 'nothing';
}

async function personOf({ db }: Restore, { data, timestamp }: AcceptedEvent): Promise<User | null> {
  const named = v.safeParse(Named, data);
  if (!named.success) return null;
  const { userId, phone } = named.output;
  return findPerson(db, userId ?? (phone && userOfSql('phone', phone)), timestamp);
}

async function findPerson(
  db: Restore['db'],
  id: string | SQL<string | null> | undefined,
  timestamp: string,
): Promise<User | null> {
  if (id === undefined) return null;
  const isOlder = lte(users.createdAt, Date.parse(timestamp));
  const [user] = await db
    .select()
    .from(users)
    .where(and(eq(users.id, id), isOlder));
  return user ?? null;
}

async function leave(restore: Restore, event: AcceptedEvent): Promise<Outcome> {
  const { db, isDry } = restore;
  const user = await personOf(restore, event);
  if (!user) return 'nothing';

  const row = {
    userId: users.id.getSQL(),
    dueAt: null,
    deletionBeganAt: 0,
  };
  // The cron job may have deleted the account meanwhile.
  const begin = insertSelect(customers, row, sql`from ${users} where ${eq(users.id, user.id)}`);
  const upsert = { target: [customers.userId], set: { deletionBeganAt: 0 } };
  if (!isDry) await db.run(upsertSelect(begin, customers, upsert));
  return 'repeated';
}

async function withdraw(restore: Restore, event: AcceptedEvent): Promise<Outcome> {
  const { db, isDry } = restore;
  if (event.data['version'] !== null) return 'nothing';
  const user = await personOf(restore, event);
  const withdrawnAt = Date.parse(event.timestamp);
  const isLater = user && (user.chatConsentAt ?? Infinity) <= withdrawnAt;
  if (!isLater) return 'nothing';
  if (isDry) return 'repeated';

  const tx = transaction(db, {
    from: oneRow([users, eq(users.id, user.id)]),
    facts: {
      isOlder: isTrue(and(isNotNull(users.chatKey), lte(users.chatConsentAt, withdrawnAt))),
    },
    outcomes: ({ isOlder }) => ({ kept: not(isOlder) }),
    otherwise: 'withdrawn',
  });
  const call = { settings: quiet(restore), now: Date.now() };
  clearConversation(tx, ['withdrawn'], call, { id: user.id, next: null });
  const { outcome } = await tx.run();
  return outcome === 'withdrawn' ? 'repeated' : 'nothing';
}

async function setStatus(restore: Restore, event: AcceptedEvent, name: string): Promise<Outcome> {
  const { db, at, isDry } = restore;
  const user = await personOf(restore, event);
  const told = v.safeParse(Status, event.data['status']);
  if (!user || !told.success) return 'nothing';
  const outcome = user.status === told.output ? 'nothing' : 'repeated';
  if (isDry) return outcome;

  const marker = markerOf(at, name, outcome);
  const tx = transaction(db, {
    facts: { isDone: rowExists(usedTokens, eq(usedTokens.id, marker.id)) },
    outcomes: ({ isDone }) => ({ done: isDone }),
    otherwise: 'set',
  });
  tx.update(['set'], users, { status: told.output }, eq(users.id, user.id));
  tx.insert(['set'], usedTokens, marker);
  await tx.run();
  return outcome;
}

async function move(restore: Restore, event: AcceptedEvent, name: string): Promise<Outcome> {
  const { db, at, isDry } = restore;
  const moved = v.safeParse(Move, event.data);
  if (!moved.success) return 'nothing';
  const { phone, previousPhone } = moved.output;
  const user = await findPerson(db, userOfSql('phone', previousPhone), event.timestamp);
  if (!user) return 'nothing';
  if (isDry) return 'repeated';

  const marker = markerOf(at, name, 'repeated');
  const place = { db, settings: quiet(restore) };
  const account = { user, bound: await boundRowsOf(db, user.id) };
  const outcome = await moveAsItIs(place, account, {
    phone,
    whatsappId: phone.slice(1),
    ...byOf(event),
    isAllowed: not(rowExists(usedTokens, eq(usedTokens.id, marker.id))),
    marker,
  });
  return outcome === 'moved' ? 'repeated' : 'unknown';
}

/** Support drops the id that WhatsApp gave. */
function byOf({ data }: AcceptedEvent) {
  const isSupport = data['businessUserId'] === undefined;
  return isSupport
    ? { by: 'support' as const }
    : {
        by: 'code' as const,
        keeps: null,
      };
}

const triesAtOnce = 5;

/** The bot may bring a trial link or an id at this moment. */
async function moveAsItIs(place: Place, before: MovingAccount, wanted: Move): Promise<string> {
  let account = before;
  for (let count = 0; count < triesAtOnce; count += 1) {
    const { outcome, found } = await moveInDatabase(place, account, wanted);
    if (outcome !== 'changed') return outcome;
    account = found;
  }
  throw new Error(`The account of ${before.user.phone} changes at this moment.`);
}

type Place = Pick<Restore, 'db' | 'settings'>;

/** The bot knows what it has told us. */
function quiet({ settings }: Restore): Restore['settings'] {
  const withoutBot: Restore['settings']['require'] = (name) =>
    name === 'BOT_WEBHOOK_URL' ? (undefined as never) : settings.require(name);
  return { ...settings, require: withoutBot };
}
