import { desc, eq, inArray, sql } from 'drizzle-orm';
import { botCalls, codes, customers, hits, outbox, sessions, spentTrials, trialLinks } from '#db/schema';
import { subjects } from '../auth/issue-code.ts';
import { keyedHashes } from '../auth/keyed-hash.ts';
import { openStripe } from '../billing/stripe.ts';
import type { Settings } from '../settings.ts';
import type { Opened } from './open-user.ts';

/**
 * Everything that is kept about a user, here and at Stripe; instants in unix ms. Secrets and their hashes are left out,
 * since they would tell the user nothing and a finder too much.
 */
export async function collectUser(opened: Opened) {
  const [kept, billing] = [await fromDatabase(opened), await fromStripe(opened)];
  return {
    account: opened.user,
    ...kept,
    stripe: billing,
    elsewhere: 'The conversation itself is kept by the assistant, and messages by WhatsApp.',
  };
}

async function fromDatabase({ user, db, settings }: Opened) {
  const { id, phone } = user;
  const phoneMacs = await keyedHashes(settings.CODE_PEPPER, 'phone', phone);
  const [openSessions, code, counted, links, spent, calls, untold] = await db.batch([
    db
      .select({ createdAt: sessions.createdAt, expiresAt: sessions.expiresAt })
      .from(sessions)
      .where(eq(sessions.userId, id)),
    db.select({ expiresAt: codes.expiresAt, triesLeft: codes.triesLeft }).from(codes).where(eq(codes.phone, phone)),
    db
      .select({ what: hits.subject, at: hits.at })
      .from(hits)
      .where(inArray(hits.subject, [subjects.codesTo(phone), subjects.wrongTriesAt(phone)])),
    db
      .select({
        tier: trialLinks.tier,
        days: trialLinks.days,
        expiresAt: trialLinks.expiresAt,
        used: sql`used_by is not null`,
      })
      .from(trialLinks)
      .where(eq(trialLinks.userId, id)),
    db.select({ at: spentTrials.at }).from(spentTrials).where(inArray(spentTrials.phoneMac, phoneMacs)),
    db
      .select({ at: botCalls.at, answer: botCalls.answer })
      .from(botCalls)
      .where(sql`answer ->> 'userId' = ${id}`)
      .orderBy(desc(botCalls.at)),
    db.select({ body: outbox.body }).from(outbox).where(eq(outbox.phone, phone)),
  ]);
  const eventsForTheBot = untold.map(({ body }) => JSON.parse(body) as unknown);
  return {
    sessions: openSessions,
    code,
    limits: counted,
    trialLinks: links,
    spentTrials: spent,
    botCalls: calls,
    eventsForTheBot,
  };
}

async function fromStripe({ user, db, settings }: Opened) {
  const { stripeId, syncedAt, hadSubscription, setupSession } = customers;
  const columns = { stripeId, syncedAt, hadSubscription, setupSession };
  const [row] = await db.select(columns).from(customers).where(eq(customers.userId, user.id));
  return row?.stripeId ? { kept: row, ...(await askStripe(settings, row.stripeId)) } : null;
}

async function askStripe(settings: Settings, customer: string) {
  const stripe = await openStripe(settings);
  const all = { limit: 1000 };
  return {
    customer: await stripe.customers.retrieve(customer),
    subscriptions: await stripe.subscriptions.list({ customer, status: 'all', limit: 100 }).autoPagingToArray(all),
    invoices: await stripe.invoices.list({ customer, limit: 100 }).autoPagingToArray(all),
    paymentMethods: await stripe.customers.listPaymentMethods(customer, { limit: 100 }).autoPagingToArray(all),
  };
}
