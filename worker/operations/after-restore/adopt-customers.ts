import { and, eq, isNull, lte, ne, sql } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import * as v from 'valibot';
import { customers, users } from '#db/schema';
import { userOfSql } from '../../identity/aliases.ts';
import { CanonicalPhone, type PhoneNumber } from '../../identity/phone.ts';
import { upsertUser } from '../../identity/user-record.ts';
import { isLive } from '../../billing/subscriptions.ts';
import { withStripe } from '../../billing/stripe-client.ts';
import { insertSelect, upsertSelect } from '../../lib/sql.ts';
import { transaction } from '../../lib/transaction.ts';
import { firstWeek } from '../../usage/week.ts';
import { generationOf } from './end-sessions.ts';
import type { Report, Restore, RestoreStep } from './restore.ts';
import { acceptedSince } from './accepted-events.ts';

const skewSeconds = 600;
const deletedAtMost = 10_000;

const Metadata = v.object({
  userId: v.string(),
  phone: v.optional(CanonicalPhone),
});

const Approval = v.object({
  userId: v.optional(v.string()),
  phone: v.optional(CanonicalPhone),
  status: v.picklist(['approved', 'pending']),
});
type Line = { text: string; isUnknown?: true };

/** Nobody is charged without a plan. */
export const adoptCustomers: RestoreStep = {
  name: 'customers',
  run: (restore) =>
    withStripe(restore.settings, async (stripe) => {
      const all: Report = { done: [], unknown: [] };
      const created = { gte: Math.floor(restore.at / 1000) - skewSeconds };
      for await (const customer of stripe.customers.list({
        created,
        limit: 100,
      })) {
        const line = await adopt(restore, stripe, customer);
        if (line) all[line.isUnknown ? 'unknown' : 'done'].push(line.text);
      }
      for (const text of await deletedSince(restore, stripe)) all.unknown.push(text);
      return all;
    }),
};

async function adopt(
  restore: Restore,
  stripe: Stripe,
  { id, metadata }: Stripe.Customer,
): Promise<Line | null> {
  const { db, isDry } = restore;
  const named = v.safeParse(Metadata, metadata);
  if (!named.success) return null;
  const { userId, phone } = named.output;
  const owner =
    (await ownerOf(db, userId)) ?? (phone ? await ownerOf(db, userOfSql('phone', phone)) : null);
  if (owner?.stripeId === id) return null;

  const { data } = await stripe.subscriptions.list({ customer: id, limit: 100 });
  const pays = data.some(isLive);
  if (owner?.stripeId)
    return pays
      ? {
          text: `${owner.phone} pays as ${id}, too, beside ${owner.stripeId}: end one of them in the Stripe Dashboard`,
          isUnknown: true,
        }
      : null;
  if (!owner && !pays) return null;
  if (await isOfAnother(db, id, owner?.id ?? userId))
    return {
      text: `${owner?.phone ?? phone ?? userId} has the customer ${id} at Stripe, and the row of another account names it: correct one of them by hand`,
      isUnknown: true,
    };

  if (owner) {
    if (!isDry)
      await giveCustomer(restore, stripe, owner.id, {
        id,
        phone: owner.phone,
      });
    return { text: `${owner.phone} has the customer ${id}: adopted` };
  }
  if (!phone)
    return {
      text: `${id} pays and names nobody: cancel and refund it in the Stripe Dashboard`,
      isUnknown: true,
    };
  if (!isDry) {
    await createAgain(restore, userId, phone);
    await giveCustomer(restore, stripe, userId, { id, phone });
  }
  return { text: `${phone} came since and pays as ${id}: the account exists again` };
}

async function isOfAnother(db: Restore['db'], id: string, userId: string): Promise<boolean> {
  const other = and(eq(customers.stripeId, id), ne(customers.userId, userId));
  const found = await db.select({ userId: customers.userId }).from(customers).where(other);
  return found.length > 0;
}

type Owner = {
  id: string;
  phone: PhoneNumber;
  stripeId: string | null;
};

async function ownerOf(
  db: Restore['db'],
  id: string | ReturnType<typeof userOfSql>,
): Promise<Owner | null> {
  const [owner] = await db
    .select({
      id: users.id,
      phone: users.phone,
      stripeId: customers.stripeId,
    })
    .from(users)
    .leftJoin(customers, eq(customers.userId, users.id))
    .where(eq(users.id, id));
  return owner ?? null;
}

async function giveCustomer(
  { db, at }: Restore,
  stripe: Stripe,
  userId: string,
  { id, phone }: { id: string; phone: PhoneNumber },
): Promise<void> {
  const known = {
    stripeId: id,
    stripeAsked: true,
    askedAt: at,
    dueAt: 0,
  };
  const row = { userId: users.id.getSQL(), ...known };
  const given = insertSelect(customers, row, sql`from ${users} where ${eq(users.id, userId)}`);
  const where = and(isNull(customers.stripeId), lte(customers.leaseUntil, Date.now()));
  const upsert = {
    target: [customers.userId],
    set: known,
    where,
  };
  const { rowsAffected } = await db.run(upsertSelect(given, customers, upsert));
  if (rowsAffected === 0) throw new Error(`${phone} is buying at this moment.`);

  await stripe.customers.update(id, { metadata: { userId, phone } });
}

async function createAgain(restore: Restore, id: string, phone: PhoneNumber): Promise<void> {
  const { db, settings, at } = restore;
  const status = await statusOf(restore, { id, phone });
  const now = Date.now();
  const sighting = {
    id,
    phone,
    proof: 'support' as const,
    whatsappId: null,
    assumedWhatsappId: null,
    contactedAt: null,
    firstWeek: await firstWeek(phone, settings, now),
  };
  const tx = transaction(db, {
    facts: { isKnown: sql<number>`exists (select 1 from ${users} where ${eq(users.id, id)})` },
    outcomes: ({ isKnown }) => ({ known: isKnown }),
    otherwise: 'created',
  });
  upsertUser(tx, ['created'], sighting, { settings, now });
  tx.update(['created'], users, { chatEpoch: generationOf(at), status }, eq(users.id, id));
  await tx.run();
}

/** Only an approved person can buy; the bot may have set them back since. */
async function statusOf(restore: Restore, { id, phone }: { id: string; phone: PhoneNumber }) {
  const { settings } = restore;
  if (settings.require('APPROVAL') !== 'manual') return 'approved';

  const accepted = await acceptedSince(settings, restore);
  const approvals = accepted.flatMap(({ type, data }) => {
    const read = v.safeParse(Approval, data);
    return type === 'user.approved' && read.success ? [read.output] : [];
  });
  const last = approvals.findLast((approval) =>
    approval.userId === undefined ? approval.phone === phone : approval.userId === id,
  );
  return last?.status ?? 'approved';
}

async function deletedSince({ db, at }: Restore, stripe: Stripe): Promise<string[]> {
  const created = { gte: Math.floor(at / 1000) };
  const type = 'customer.deleted';
  const events = await stripe.events
    .list({ type, created, limit: 100 })
    .autoPagingToArray({ limit: deletedAtMost })
    .catch(() => []);
  const ids = events.map(({ data }) => (data.object as Stripe.Customer).id);
  const texts: string[] = [];
  for (const id of ids) {
    const [left] = await db
      .select({ phone: users.phone, deletionBeganAt: customers.deletionBeganAt })
      .from(customers)
      .innerJoin(users, eq(users.id, customers.userId))
      .where(eq(customers.stripeId, id));
    if (left && left.deletionBeganAt === null)
      texts.push(
        `${left.phone}: the customer ${id} was deleted since; if the person has left, \`support erase\``,
      );
  }
  return texts;
}
