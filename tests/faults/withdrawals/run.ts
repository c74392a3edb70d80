/* `npm run test:withdrawals -- [--rounds=12] [--seed=N]`: withdrawals with a fault between any two steps, and a killed Worker. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { and, eq, inArray, isNotNull } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import {
  customers as stripeCustomers,
  outbox,
  receiptMails,
  users,
  withdrawals,
  type PhoneNumber,
  type Withdrawal,
} from '#db/schema';
import { partText } from '../../bench/measurement.ts';
import { runMinuteCron } from '../../product/start-product.ts';
import { services } from '../../sandbox/fault-injection.ts';
import { findingsText } from '../findings.ts';
import type { Finding } from '../invariants/accounts.ts';
import { sessionIn, submit } from '../load/journey.ts';
import { Choices } from '../person.ts';
import { add, CallFigures } from '../records.ts';
import { type Rig, runWithRig } from '../rig.ts';
import { Site } from '../site.ts';
import { Customer, type Simulation } from '../weeks/customer.ts';
import { creditedByLaw, owedByLaw } from './law.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
});
const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
const print = (text: string) => process.stdout.write(`${text}\n`);

/** So many people withdraw together: one kill of the Worker meets each of them at another step. */
const together = 4;
const hour = 3600;
const day = 24 * hour;

const stripeAt = (path: string, fault: object) => ({
  stripe: {
    ...fault,
    path: `/v1/${path}`,
  },
});

/** What only the request has that changes something. */
const changes = {
  subscription: 'invoice_now',
  creditNote: 'email_type',
  refund: 'credit_note]',
};
const lostAfter = (change: keyof typeof changes) => ({
  stripe: { cut: true, match: changes[change] },
});

const disturbances: Record<string, { faults?: object; kills?: true }> = {
  'Worker killed': { kills: true },
  'Worker killed while Stripe is slow': {
    kills: true,
    faults: { stripe: { delayMs: 40 } },
  },
  'Worker killed while the database is slow': {
    kills: true,
    faults: { libsql: { delayMs: 15 } },
  },
  'Worker killed after a lost credit note': {
    kills: true,
    faults: lostAfter('creditNote'),
  },
  'statement refused': {
    faults: {
      libsql: {
        drop: true,
        match: 'withdrawal.received',
      },
    },
  },
  'statement kept, response lost': {
    faults: { libsql: { cut: true, match: 'withdrawal.received' } },
  },
  'subscriptions fail': { faults: stripeAt('subscriptions', { status: 500 }) },
  'end of the subscription lost': { faults: lostAfter('subscription') },
  'invoices fail': { faults: stripeAt('invoices', { status: 503 }) },
  'credit notes fail': { faults: stripeAt('credit_notes', { status: 500 }) },
  'credit notes fail, remembered': {
    faults: {
      stripe: {
        status: 500,
        remember: true,
        match: changes.creditNote,
      },
    },
  },
  'credit notes made, response lost': { faults: lostAfter('creditNote') },
  'refunds fail': { faults: stripeAt('refunds', { status: 500 }) },
  'refunds made, response lost': { faults: lostAfter('refund') },
  'credit notes made too late': {
    faults: { stripe: { delayMs: 9500, match: changes.creditNote } },
  },
  'result refused': {
    faults: {
      libsql: {
        drop: true,
        match: 'withdrawal.refunded',
      },
    },
  },
  'result kept, response lost': {
    faults: {
      libsql: {
        cut: true,
        match: 'withdrawal.refunded',
      },
    },
  },
  'mails and bot lose their responses': {
    faults: {
      mail: { cut: true },
      bot: { cut: true },
    },
  },
  'mails and bot are down': {
    faults: {
      mail: { drop: true },
      bot: { drop: true },
    },
  },
};

type Buyer = Customer & { asked: boolean };
type Run = Simulation & {
  choices: Choices;
  findings: Map<string, Finding>;
};

print(`${rounds} rounds of ${together} withdrawals with --seed=${seed}`);
await runWithRig('test:withdrawals', async (rig) => {
  const site = new Site(rig.product.siteUrl, rig.botSecret, new CallFigures());
  const choices = new Choices(seed);
  const run: Run = {
    rig,
    site,
    counts: new Map(),
    choices,
    findings: new Map(),
  };
  await rig.control('PUT', '/stripe/webhooks', { mode: 'hold' });

  const all: Buyer[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(...(await withdrawTogether(run, round)));
  await expectNoLaterPayment(run, all);

  const findings = [...run.findings.values()];
  print(
    partText({
      title: 'Disturbances',
      header: ['disturbance', 'rounds'],
      rows: [...run.counts],
    }),
  );
  print(findingsText(findings));
  return findings.length > 0 && findings.every(({ broken }) => broken.length === 0);
});

async function withdrawTogether(run: Run, round: number): Promise<Buyer[]> {
  const { rig, choices, counts } = run;
  const names = Object.keys(disturbances);
  // Each one, before one is repeated at random.
  const name = round < names.length ? names[round]! : choices.pick(names);
  const { faults = {}, kills = false } = disturbances[name]!;
  add(counts, name);
  const indexes = Array.from({ length: together }, (_, index) => round * together + index);
  const people = await Promise.all(indexes.map((index) => newBuyer(run, index)));

  await rig.control('PUT', '/faults', faults);
  const calls = people.map((person) => person.call('withdraw', { email: emailOf(person) }));
  if (kills) {
    await sleep(choices.between(1, 300));
    await rig.product.restartWorker();
    await untilUp(rig);
  }
  await Promise.all(calls);
  await rig.control('PUT', '/faults', Object.fromEntries(services.map((each) => [each, null])));
  await someEvents(run, people);
  for (const person of people) await check(run, person, await settled(run, person));
  return people;
}

function emailOf({ phone }: Customer): string {
  return `p${phone.slice(1)}@example.com`;
}

/** A purchase, perhaps a coupon and a dearer plan after it, and some days; who asked to begin at once. */
async function newBuyer(run: Run, index: number): Promise<Buyer> {
  const { choices } = run;
  const person = new Customer(index, choices.fork(), run);
  await person.arrive();
  let asked = choices.chance(0.5);
  const url = await orderPage(person, choices.pick(['basic', 'premium']), asked);
  const sessionId = sessionIn(await submit(url, {}));
  await person.call('verifyCheckoutSession', { sessionId });
  if (choices.chance(0.3)) await takeOff(run.rig, person);
  if (choices.chance(0.4)) {
    await person.pass(choices.between(hour, 6 * day));
    asked = choices.chance(0.5);
    await moveToPlatinum(run.rig, person, asked);
  }
  await person.pass(choices.between(hour, 12 * day));
  return Object.assign(person, { asked });
}

/** A coupon for each later week. */
async function takeOff({ stripe, control }: Rig, { phone, choices }: Customer): Promise<void> {
  // Sometimes so much that the rest is less than Stripe charges.
  const percent = choices.chance(0.3) ? choices.between(96, 99) : choices.between(1, 95);
  const { id: coupon } = await stripe.coupons.create({
    percent_off: percent,
    duration: 'forever',
  });
  const held = await control('GET', `/stripe/customers/${encodeURIComponent(phone)}`);
  await stripe.subscriptions.update(held.subscriptions[0].id, { discounts: [{ coupon }] });
}

async function moveToPlatinum({ tiers }: Rig, person: Customer, asked: boolean): Promise<void> {
  const url = await orderPage(person, 'platinum', asked);
  const [price = ''] = [...tiers].find(([, tier]) => tier === 'platinum') ?? [];
  await submit(`${url.split('?')[0]}/switch`, { price });
}

async function orderPage(person: Customer, tier: string, startNow: boolean): Promise<string> {
  const { body } = await person.call('createSubscriptionUpdateSession', {
    tier,
    startNow,
  });
  return String(body['portalUrl']);
}

async function untilUp({ product }: Rig): Promise<void> {
  const isUp = () =>
    fetch(`${product.siteUrl}/api/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) await sleep(50);
}

/** Stripe's events are lost, or come twice and in any order. */
async function someEvents({ rig, choices }: Run, people: Customer[]): Promise<void> {
  for (const { phone } of people) {
    if (choices.chance(0.4)) continue;
    const order = choices.pick(['original', 'reversed']);
    await rig.control('POST', '/stripe/webhooks/redeliver', {
      order,
      times: 2,
      phone,
    });
  }
}

/** The person tries again if nothing was kept; the cron job does the rest, without its pauses. */
async function settled(run: Run, person: Buyer): Promise<Withdrawal[]> {
  const { database, product } = run.rig;
  let rows: Withdrawal[] = [];
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const [user] = await database
      .select()
      .from(users)
      .where(eq(users.phone, person.phone as PhoneNumber));
    const own = eq(withdrawals.userId, user!.id);
    await database
      .update(stripeCustomers)
      .set({ leaseUntil: 0 })
      .where(eq(stripeCustomers.userId, user!.id));
    await database.update(withdrawals).set({ dueAt: 0 }).where(own);
    await database
      .update(outbox)
      .set({ dueAt: 0, leasedUntil: 0 })
      .where(eq(outbox.userId, user!.id));
    rows = await database.select().from(withdrawals).where(own);
    const ids = rows.map(({ id }) => id);
    const ofThem = and(inArray(receiptMails.statementId, ids), isNotNull(receiptMails.dueAt));
    await database.update(receiptMails).set({ dueAt: 0 }).where(ofThem);
    if (rows.length === 0) await person.call('withdraw', { email: emailOf(person) });
    await runMinuteCron(product.siteUrl);

    rows = await database.select().from(withdrawals).where(own);
    const waiting = await database.$count(outbox, eq(outbox.userId, user!.id));
    const unsent = await database.$count(receiptMails, ofThem);
    const isDone = rows.length > 0 && rows.every(({ state }) => state === 'done');
    if (isDone && ids.length > 0 && waiting === 0 && unsent === 0) return rows;
  }
  return rows;
}

async function check(run: Run, person: Buyer, rows: Withdrawal[]): Promise<void> {
  const { rig } = run;
  const law = (what: string, isKept: boolean, found: unknown) => {
    const finding = run.findings.get(what) ?? {
      what,
      checked: 0,
      broken: [],
    };
    run.findings.set(what, finding);
    finding.checked += 1;
    if (!isKept) finding.broken.push(`${person.phone}: ${JSON.stringify(found)}`);
  };
  const [statement] = rows;
  const states = rows.map(({ state, reason }) => ({ state, reason }));
  law('one statement, done', rows.length === 1 && statement!.state === 'done', states);

  const { customer: held, subscriptions } = await rig.control(
    'GET',
    `/stripe/customers/${encodeURIComponent(person.phone)}`,
  );
  const customer = String(held.id);
  const { data: invoices } = await rig.stripe.invoices.list({
    customer,
    limit: 100,
  });
  const { data: notes } = await rig.stripe.creditNotes.list({
    customer,
    limit: 100,
  });
  const { data: charges } = await rig.stripe.charges.list({
    customer,
    limit: 100,
  });
  const owed = owedByLaw(invoices, person.asked, statement?.billedAt ?? 0);
  const noted = notes.reduce((sum, note) => sum + refundIn(note), 0);
  const credited = notes.reduce((sum, { total }) => sum + total, 0) - noted;
  const refunded = charges.reduce((sum, { amount_refunded: amount }) => sum + amount, 0);
  law('the refund is what the law leaves', refunded === owed, {
    refunded,
    owed,
  });
  law('the credit notes are the refund', noted === owed, { noted, owed });
  const credit = creditedByLaw(invoices, person.asked, statement?.billedAt ?? 0);
  law('what a credit paid is a credit again', credited === credit, {
    credited,
    credit,
  });
  law('the statement says the refund', statement?.refund === owed, {
    said: statement?.refund,
    owed,
  });
  const noteOf = new Set(notes.map(({ invoice }) => invoice));
  law('no invoice has two credit notes', noteOf.size === notes.length, notes.length);
  const statuses = subscriptions.map(({ status }: { status: string }) => status);
  law(
    'the subscription has ended',
    statuses.every((status: string) => status === 'canceled'),
    statuses,
  );

  const { body: profile } = await person.call('getMe');
  const tier =
    profile['user']?.metadata?.subscriptionTier ?? profile['profile']?.metadata?.subscriptionTier;
  law('the plan is free', tier === 'free', tier);
  const events: {
    type: string;
    data: { phone: string };
  }[] = await rig.control('GET', '/bot/events');
  const told = events.filter(({ data }) => data.phone === person.phone).map(({ type }) => type);
  const timesTold = (type: string) => told.filter((each) => each === type).length;
  law('the bot hears of the statement once', timesTold('withdrawal.received') === 1, told);
  const isPaid = owed > 0;
  law(
    'the bot hears of the money once',
    timesTold('withdrawal.refunded') === (isPaid ? 1 : 0),
    told,
  );
  const mails: object[] = await rig.control('GET', `/mail/${emailOf(person)}`);
  law('the receipt is mailed once', mails.length === 1, mails.length);
}

/** What a credit note says of a refund: its own, or one of the payment that paid its invoice later. */
function refundIn({ refunds, out_of_band_amount: later }: Stripe.CreditNote): number {
  return refunds.reduce((sum, { amount_refunded: amount }) => sum + amount, later ?? 0);
}

async function expectNoLaterPayment(run: Run, people: Buyer[]): Promise<void> {
  const { rig, findings } = run;
  const paidBy = async ({ phone }: Customer) => {
    const { invoices } = await rig.control('GET', `/stripe/customers/${encodeURIComponent(phone)}`);
    return invoices.filter(({ status }: { status: string }) => status === 'paid').length as number;
  };
  const before = await Promise.all(people.map(paidBy));
  await rig.control('POST', '/stripe/clock', { advanceSeconds: 14 * day });
  const after = await Promise.all(people.map(paidBy));
  const broken = people.flatMap(({ phone }, index) =>
    before[index] === after[index] ? [] : [phone],
  );
  findings.set('later', {
    what: 'nothing is charged later',
    checked: people.length,
    broken,
  });
}
