import { setTimeout as sleep } from 'node:timers/promises';
import { type PaidPlanId, paidPlanIds, planOf } from '../../../worker/contract/plans.ts';
import { inParallel, partText } from '../../bench/report.ts';
import { checkCases, type Finding } from '../invariants/accounts.ts';
import { type Holdings, holdingsOf, oldestFirst, priceOf } from '../invariants/subscriptions.ts';
import { submit } from '../load/acts.ts';
import type { Choices } from '../person.ts';
import type { Rig } from '../rig.ts';
import type { Json } from '../site.ts';
import { Customer, pageFor, type Simulation } from './customer.ts';
import { total } from './ledger.ts';

/** Every way to move from plan to dearer plan within a week. */
const chains = chainsOf(paidPlanIds).filter(({ length }) => length > 1);
const hoursOfWeek = 168;
const secondsOfWeek = hoursOfWeek * 3600;
const atOnce = 4;
const deadlineMs = 60_000;
/** Stripe rounds each credit to a cent, to the second of the change. */
const roundingCents = 3;

/** A customer who uses up each plan of a chain at once, and changes to the next one at an hour of the first week. */
type Story = {
  phone: string;
  hour: number;
  chain: PaidPlanId[];
  /** The weeks that were paid for, one for each plan of the chain. */
  weeks: Week[];
  /** Allowed after a declined upgrade or a declined renewal. */
  unpaid: number;
  /** Allowed after a dispute, or after deleting the account and returning. */
  afterwards: number;
};

/** `creditCents`: what was taken off its price for `unusedCents`, the share of the week before that was given up. */
type Week = { moneyCents: number; creditCents: number; unusedCents: number; messages: number };

const centsOf = (id: PaidPlanId) => planOf(id).weeklyCents;
const limitOf = (id: PaidPlanId) => planOf(id).messageLimit!;
const paidCents = ({ weeks }: Story) => total(weeks.map(({ moneyCents }) => moneyCents));
const messagesOf = ({ weeks }: Story) => total(weeks.map(({ messages }) => messages));
/** In money alone: the time that was given up costs nothing. */
const centsAMessage = (story: Story) => paidCents(story) / messagesOf(story);
/** In money and in the time that was given up for it, in the cheapest of the weeks. */
const wholeCentsAMessage = ({ weeks }: Story) =>
  Math.min(...weeks.map(({ moneyCents, creditCents, messages }) => (moneyCents + creditCents) / messages));

/**
 * US cents: the least that a message can cost in money. Each earlier plan of a chain is credited in full if it is used
 * up at once, so a chain costs the price of its last plan.
 */
export const leastCents = Math.min(...chains.map((chain) => centsOf(chain.at(-1)!) / total(chain.map(limitOf))));
/** US cents: a message of the plan that sells it cheapest. */
const cheapestPlanCents = Math.min(...paidPlanIds.map((id) => centsOf(id) / limitOf(id)));

/** Every selection of plans, in their order. */
function chainsOf([first, ...dearer]: readonly PaidPlanId[]): PaidPlanId[][] {
  if (!first) return [[]];
  const others = chainsOf(dearer);
  return [...others.map((chain) => [first, ...chain]), ...others];
}

/** Upgrades at every hour of the week, by every chain in turn and by all of them in the first hour. */
export async function upgradeAtEveryHour(simulation: Simulation, people: number, choices: Choices): Promise<Story[]> {
  const plots = Array.from({ length: hoursOfWeek }, (_, hour) => ({ hour, chain: chains[hour % chains.length]! }));
  plots.unshift(...chains.slice(1).map((chain) => ({ hour: 0, chain })));
  const stories: Story[] = [];
  await inParallel(atOnce, plots.entries(), async ([index, { hour, chain }]) => {
    const customer = new Customer(people + index, choices.fork(), simulation);
    stories.push(await live(simulation.rig, customer, hour, chain));
  });
  return stories;
}

async function live(rig: Rig, customer: Customer, hour: number, chain: PaidPlanId[]): Promise<Story> {
  const { phone } = customer;
  const story: Story = { phone, hour, chain, weeks: [], unpaid: 0, afterwards: 0 };
  const [first, ...dearer] = chain as [PaidPlanId, ...PaidPlanId[]];
  await customer.arrive();
  await customer.post(planOf('free').messageLimit!);
  const checkout = (await pageFor(customer, first))!;
  await rig.control('PUT', '/stripe/webhooks', { mode: 'deliver', phone });
  await submit(checkout, { card: '4242424242424242', authentication: 'complete' });
  const messages = [await useUp(customer, first)];
  await customer.pass(hour * 3600);
  for (const plan of dearer) {
    // Weeks begin at whole seconds, and two that begin in the same one are the same week.
    await customer.pass(1);
    if (hour % 5 === 0) story.unpaid += await declineUpgrade(rig, customer, plan);
    await upgrade(rig, customer, plan);
    messages.push(await useUp(customer, plan));
  }
  const paid = paidWeeksOf((await holdingsOf(rig, customer))!, rig);
  story.weeks = paid.map((week, index) => ({ ...week, messages: messages[index] ?? 0 }));
  const ending = hour % 3;
  if (ending === 0) story.unpaid += await declineRenewal(customer);
  else story.afterwards = await (ending === 1 ? dispute(customer) : deleteAndReturn(customer));
  return story;
}

/** What was paid for each week, by the paid invoices. */
function paidWeeksOf({ invoices }: Holdings, { tiers }: Rig): Omit<Week, 'messages'>[] {
  const paid = oldestFirst(invoices).filter(({ status }) => status === 'paid');
  return paid.map(({ amount_paid: moneyCents, lines: { data } }) => {
    const credits = data.filter(({ amount }) => amount < 0);
    const unused = credits.map((line) => {
      const { start, end } = line.period;
      return (centsOf(tiers.get(priceOf(line)) as PaidPlanId) * (end - start)) / secondsOfWeek;
    });
    return { moneyCents, creditCents: -total(credits.map(({ amount }) => amount)), unusedCents: total(unused) };
  });
}

async function upgrade(rig: Rig, customer: Customer, plan: PaidPlanId): Promise<number> {
  const portal = await pageFor(customer, plan);
  const price = [...rig.tiers].find(([, tier]) => tier === plan)![0];
  return (await submit(`${portal}/switch`, { price })).status;
}

/** Returns the messages that a declined upgrade grants. */
async function declineUpgrade(rig: Rig, customer: Customer, plan: PaidPlanId): Promise<number> {
  await customer.stripe('card', { declines: true });
  const status = await upgrade(rig, customer, plan);
  if (status !== 402) throw new Error(`${customer.phone}: a declined upgrade answered ${status}`);
  await customer.pass(0);
  const allowed = await customer.post(1);
  await customer.stripe('card', { declines: false });
  return Number(allowed);
}

/** Returns the messages that are allowed in the hour of the draft of a renewal, and after its payment was declined. */
async function declineRenewal(customer: Customer): Promise<number> {
  await customer.stripe('card', { declines: true });
  let allowed = 0;
  for (const seconds of [secondsOfWeek, 1800, 2 * 3600]) {
    await customer.pass(seconds);
    await customer.call('profile', 'GET', '/api/user/me');
    allowed += Number(await customer.post(1));
  }
  return allowed;
}

/** Returns the messages that are allowed after the bank took the last payment back. */
async function dispute(customer: Customer): Promise<number> {
  await customer.stripe('dispute');
  await until(customer, 'free');
  return postAll(customer, 1);
}

/** Returns the messages that are allowed after two deletions in the same week. */
async function deleteAndReturn(customer: Customer): Promise<number> {
  let allowed = 0;
  for (let round = 0; round < 2; round += 1) {
    const status = await customer.leave();
    if (status !== 200) throw new Error(`${customer.phone}: the deletion answered ${status}`);
    await customer.arrive();
    allowed += await postAll(customer, 1);
  }
  return allowed;
}

/** Posts so many messages at a time, as often as it is allowed; returns how many were allowed. */
async function postAll(customer: Customer, ...counts: number[]): Promise<number> {
  let allowed = 0;
  for (const count of counts) while (await customer.post(count)) allowed += count;
  return allowed;
}

/** Waits for the plan, uses up its week, and returns the messages. */
async function useUp(customer: Customer, plan: PaidPlanId): Promise<number> {
  await until(customer, plan);
  return postAll(customer, 100, 60, 30, 10, 1);
}

/** Waits until the plan is `tier`; a paid one with the whole week before it. */
async function until(customer: Customer, tier: string): Promise<void> {
  let usage: Json = {};
  for (const begun = performance.now(); performance.now() - begun < deadlineMs;) {
    usage = await customer.bot('entitlements');
    if (usage.tier === tier && (tier === 'free' || usage.used === 0)) return;
    await sleep(100);
  }
  throw new Error(`${customer.phone} waited ${deadlineMs / 1000} s for the plan ${tier}: ${JSON.stringify(usage)}`);
}

/** What a chain costs: the price of its last plan, and the time of the first week that has passed. */
const wantedCents = ({ chain, hour }: Story) => centsOf(chain.at(-1)!) + centsOf(chain[0]!) * (hour / hoursOfWeek);

/** The laws of what was paid and granted: whether a story keeps one, and what it did otherwise. */
const laws: Record<string, [holds: (story: Story) => boolean, did: (story: Story) => string]> = {
  'a week costs its price less the credit that was paid for': [
    (story) => Math.abs(paidCents(story) - wantedCents(story)) <= roundingCents,
    (story) => `paid ${paidCents(story)} cents instead of ${wantedCents(story).toFixed(0)}`,
  ],
  'each week is paid with its whole price, in money and in unused time': [
    ({ chain, weeks }) =>
      weeks.length === chain.length &&
      weeks.every(
        ({ moneyCents, creditCents, unusedCents }, index) =>
          moneyCents + creditCents === centsOf(chain[index]!) && Math.abs(creditCents - unusedCents) <= 1,
      ),
    ({ weeks }) => `paid its weeks with ${JSON.stringify(weeks)}`,
  ],
  'no message costs less than in its plan, with the time that was given up': [
    (story) => wholeCentsAMessage(story) >= cheapestPlanCents,
    (story) => `paid ${wholeCentsAMessage(story)} cents for each message`,
  ],
  'the messages are those of the plans that were paid for': [
    (story) => messagesOf(story) === total(story.chain.map(limitOf)),
    (story) => `wrote ${messagesOf(story)} messages instead of ${total(story.chain.map(limitOf))}`,
  ],
  [`no message costs less than ${leastCents.toFixed(2)} cents in money`]: [
    (story) => centsAMessage(story) >= leastCents,
    (story) => `paid ${centsAMessage(story)} cents for each message`,
  ],
  'a declined payment grants nothing': [
    ({ unpaid }) => unpaid === 0,
    ({ unpaid }) => `wrote ${unpaid} unpaid messages`,
  ],
  'a dispute or a return grants one free week at most': [
    ({ afterwards }) => afterwards <= planOf('free').messageLimit!,
    ({ afterwards }) => `wrote ${afterwards} free messages`,
  ],
};

export async function auditUpgrades(stories: Story[]): Promise<Finding[]> {
  const told = ({ phone, hour, chain }: Story) => `${phone} (${chain.join(', ')} after ${hour} h)`;
  const findings = Object.entries(laws).map(([what, [holds, did]]) =>
    checkCases(what, stories, (story) => (holds(story) ? null : `${told(story)} ${did(story)}`)),
  );
  return Promise.all(findings);
}

export const dollars = (cents: number, digits = 2): string => `$${(cents / 100).toFixed(digits)}`;

/** Money and messages of each chain, in US dollars. */
export function upgradeTable(stories: Story[]): string {
  const rows = chains.map((chain) => {
    const own = stories.filter((story) => story.chain === chain);
    const byPrice = own.toSorted((one, other) => centsAMessage(one) - centsAMessage(other));
    const [cheapest, dearest] = [byPrice[0]!, byPrice.at(-1)!];
    return [
      chain.join(', '),
      own.length,
      dollars(total(own.map(paidCents))),
      total(own.map(messagesOf)),
      `${dollars(centsAMessage(cheapest), 4)} (hour ${cheapest.hour})`,
      `${dollars(centsAMessage(dearest), 4)} (hour ${dearest.hour})`,
      dollars(Math.min(...own.map(wholeCentsAMessage)), 4),
    ];
  });
  const header = ['plans, each used up', 'customers', 'received', 'messages', 'lowest price of one', 'highest'];
  return partText({ title: 'Upgrades at every hour of the week', header: [...header, 'lowest with time'], rows });
}
