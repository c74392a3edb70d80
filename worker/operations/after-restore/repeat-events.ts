import { and, eq, lte, not, sql, type SQL } from 'drizzle-orm';
import * as v from 'valibot';
import { customers, users, type User } from '#db/schema';
import { userOf } from '../../identity/identity.ts';
import { CanonicalPhone, type PhoneNumber } from '../../identity/phone.ts';
import { boundRowsOf, moveInDatabase } from '../../account/move-number.ts';
import { clearConversation } from '../../chat/clear-statements.ts';
import { withStripe } from '../../billing/stripe-client.ts';
import { transaction } from '../../lib/transaction.ts';
import type { Report, Restore, Step } from './restore.ts';
import { toldSince, type ToldEvent } from './told-events.ts';

/**
 * Repeats what people had ended since, as the bot was
 * told: it is in none of our own places any more.
 */
export const repeatEvents: Step = {
  name: 'events',
  async run(restore) {
    const events = await toldSince(restore.settings, restore.at);
    const all: Report = { done: [], unknown: [] };
    const approvals = new Map<string, ToldEvent>();
    const add = (event: ToldEvent, line: Line | null) => {
      if (line) all[line.isUnknown ? 'unknown' : 'done'].push(`${event.timestamp}: ${line.text}`);
    };
    for (const event of events) {
      add(event, await repeat(restore, event));
      const isApproval = event.type === 'user.approved';
      const user = isApproval ? await personOf(restore, event) : null;
      if (user) approvals.set(user.id, event);
    }
    // Of each person the last one counts, also when the number has changed.
    for (const [id, event] of approvals) add(event, await repeatApproval(restore, id, event));
    return all;
  },
};

type Line = { text: string; isUnknown?: true };

const Named = v.object({ userId: v.optional(v.string()), phone: v.optional(CanonicalPhone) });
const Status = v.picklist(['approved', 'pending']);
const Told = v.object({
  phone: CanonicalPhone,
  amount: v.optional(v.number()),
  currency: v.optional(v.pipe(v.string(), v.regex(/^[a-z]{3}$/))),
});
const Move = v.object({ phone: CanonicalPhone, previousPhone: CanonicalPhone });

async function repeat(restore: Restore, event: ToldEvent): Promise<Line | null> {
  switch (event.type) {
    case 'user.deleted':
      return leave(restore, event);
    case 'user.phone_changed':
      return move(restore, event);
    case 'chat.consent':
      return event.data['version'] === null ? withdraw(restore, event) : null;
    case 'withdrawal.received':
    case 'withdrawal.refunded':
      return tell(event);
    default:
      return null;
  }
}

/** A statement itself is not in the event: its owner looks at Stripe. */
function tell({ data }: ToldEvent): Line | null {
  const told = v.safeParse(Told, data);
  if (!told.success) return null;
  const { phone, amount, currency } = told.output;
  const text =
    amount === undefined
      ? `${phone} was told of a statement of withdrawal, which is lost: the bot has its receipt`
      : `${phone} was told that ${amount} cents (${currency}) are on their way: do not pay them again`;
  return { text, isUnknown: true };
}

/** The person of an event who had an account then. */
async function personOf({ db }: Restore, { data, timestamp }: ToldEvent): Promise<User | null> {
  const named = v.safeParse(Named, data);
  if (!named.success) return null;
  const { userId, phone } = named.output;
  return findPerson(db, userId ?? (phone && userOf('phone', phone)), timestamp);
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

/**
 * The cron job deletes the account within a minute,
 * with its conversation and its subscription.
 */
async function leave(restore: Restore, event: ToldEvent): Promise<Line | null> {
  const { db, isDry } = restore;
  const user = await personOf(restore, event);
  if (!user) return null;
  const set = { leavingAt: 0 };
  if (!isDry)
    await db
      .insert(customers)
      .values({ userId: user.id, dueAt: null, ...set })
      .onConflictDoUpdate({ target: customers.userId, set });
  return { text: `${user.phone} had left: deleted again` };
}

async function withdraw(restore: Restore, event: ToldEvent): Promise<Line | null> {
  const { db, isDry } = restore;
  const user = await personOf(restore, event);
  const isLater = user && (user.chatConsentAt ?? Infinity) <= Date.parse(event.timestamp);
  if (!isLater) return null;
  const tx = transaction(db, {
    from: sql`${users} where ${eq(users.id, user.id)}`,
    facts: { hasChat: sql<number>`${users.chatKey} is not null` },
    outcomes: ({ hasChat }) => ({ withoutConsent: not(hasChat) }),
    otherwise: 'withdrawn',
  });
  const call = { settings: quiet(restore), now: Date.now() };
  clearConversation(tx, ['withdrawn'], call, { id: user.id, next: null });
  if (!isDry) await tx.run();
  return { text: `${user.phone} had withdrawn the consent: withdrawn again` };
}

async function repeatApproval(
  restore: Restore,
  id: string,
  event: ToldEvent,
): Promise<Line | null> {
  const { db, isDry } = restore;
  const user = await findPerson(db, id, event.timestamp);
  const status = v.safeParse(Status, event.data['status']);
  if (!user || !status.success || user.status === status.output) return null;
  if (!isDry) await db.update(users).set({ status: status.output }).where(eq(users.id, user.id));
  return { text: `${user.phone} was ${status.output}: set again` };
}

async function move(restore: Restore, event: ToldEvent): Promise<Line | null> {
  const { db, isDry } = restore;
  const moved = v.safeParse(Move, event.data);
  if (!moved.success) return null;
  const { phone, previousPhone } = moved.output;
  const user = await findPerson(db, userOf('phone', previousPhone), event.timestamp);
  if (!user) return null;
  const text = `${previousPhone} had moved to ${phone}`;
  if (isDry) return { text: `${text}: moved again` };
  const { outcome } = await moveInDatabase({ db, settings: quiet(restore) }, user, {
    phone,
    whatsappId: phone.slice(1),
    // A move by support drops the id that WhatsApp gave, so its event names none.
    sessionId: event.data['businessUserId'] === undefined ? null : '',
    isAllowed: sql`true`,
    bound: await boundRowsOf(db, user.id),
  });
  if (outcome !== 'moved')
    return {
      text: `${text}, which somebody else has by now: ask both, then \`support move\``,
      isUnknown: true,
    };
  await renameCustomer(restore, user.id, phone);
  return { text: `${text}: moved again` };
}

/** The bot knows what it has told us. */
function quiet({ settings }: Restore): Restore['settings'] {
  return { ...settings, BOT_WEBHOOK_URL: undefined };
}

async function renameCustomer(
  { db, settings }: Restore,
  userId: string,
  phone: PhoneNumber,
): Promise<void> {
  const [row] = await db
    .select({ stripeId: customers.stripeId })
    .from(customers)
    .where(eq(customers.userId, userId));
  if (!row?.stripeId) return;
  const { stripeId } = row;
  const update = { phone, metadata: { userId, phone } };
  await withStripe(settings, (stripe) => stripe.customers.update(stripeId, update)).catch(
    () => undefined,
  );
}
