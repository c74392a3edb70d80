import { setTimeout as sleep } from 'node:timers/promises';
import { type PaidPlanId, paidPlanIds, planOf } from '../../../worker/contract/plans.ts';
import { inParallel, partText, sum } from '../../bench/measurement.ts';
import { checkCases, type Finding } from '../invariants/accounts.ts';
import { type Holdings, holdingsOf, oldestFirst, priceOf } from '../invariants/entitlements.ts';
import { submit } from '../load/journey.ts';
import type { Choices } from '../person.ts';
import type { Rig } from '../rig.ts';
import type { Json } from '../site.ts';
import { Customer, pageFor, type Simulation } from './customer.ts';

/** Every way to move from plan to dearer plan within a week. */
const chains = chainsOf(paidPlanIds).filter(({ length }) => length > 1);
const hoursOfWeek = 168;
const secondsOfWeek = hoursOfWeek * 3600;
const deadlineMs = 60_000;
/** Stripe rounds each credit to a cent, to the second of the change. */
const roundingCents = 3;

/** A customer who uses up each plan of a chain at once, and changes to the next one at an hour of the first week. */
type Story = {
  phone: string;
  hour: number;
  chain: PaidPlanId[];
  weeks: Week[];
  /** Allowed after a declined upgrade or a declined renewal. */
  unpaid: number;
  /** Allowed after a dispute, or after deleting the account and returning. */
  afterwards: number;
};

/** `creditCents`: what was taken off its price for `unusedCents`, the share of the week before that was given up. */
type Week = {
  moneyCents: number;
  creditCents: number;
  unusedCents: number;
  messages: number;
};

const centsOf = (id: PaidPlanId) => planOf(id).weeklyCents;
const limitOf = (id: PaidPlanId) => planOf(id).messageLimit!;
const paidCents = ({ weeks }: Story) => sum(weeks.map(({ moneyCents }) => moneyCents));
const messagesOf = ({ weeks }: Story) => sum(weeks.map(({ messages }) => messages));
/** In money alone: the time that was given up costs nothing. */
const centsAMessage = (story: Story) => paidCents(story) / messagesOf(story);
/** In money and in the time that was given up for it, in the cheapest of the weeks. */
const wholeCentsAMessage = ({ weeks }: Story) =>
  Math.min(
    ...weeks.map(({ moneyCents, creditCents, messages }) => (moneyCents + creditCents) / messages),
  );

/**
 * US cents: the least that a message can cost in money. Each earlier plan of a chain is credited in full if it is used
 * up at once, so a chain costs the price of its last plan.
 */
export const leastCents = Math.min(
  ...chains.map((chain) => centsOf(chain.at(-1)!) / sum(chain.map(limitOf))),
);
const cheapestPlanCents = Math.min(...paidPlanIds.map((id) => centsOf(id) / limitOf(id)));

function chainsOf([first, ...dearer]: readonly PaidPlanId[]): PaidPlanId[][] {
  if (!first) return [[]];
  const others = chainsOf(dearer);
  return [...others.map((chain) => [first, ...chain]), ...others];
}

/** Upgrades at every hour of the week, by every chain in turn and by all of them in the first hour. */
export async function upgradeAtEveryHour(
  simulation: Simulation,
  people: number,
  choices: Choices,
): Promise<Story[]> {
  const plots = Array.from({ length: hoursOfWeek }, (_, hour) => ({
    hour,
    chain: chains[hour % chains.length]!,
  }));
  plots.unshift(...chains.slice(1).map((chain) => ({ hour: 0, chain })));
  const stories: Story[] = [];
  await inParallel(4, plots.entries(), async ([index, { hour, chain }]) => {
    const customer = new Customer(people + index, choices.fork(), simulation);
    stories.push(await live(simulation.rig, customer, hour, chain));
  });
  return stories;
}

async function live(
  rig: Rig,
  customer: Customer,
  hour: number,
  chain: PaidPlanId[],
): Promise<Story> {
  const { phone } = customer;
  const story: Story = {
    phone,
    hour,
    chain,
    weeks: [],
    unpaid: 0,
    afterwards: 0,
  };
  const [first, ...dearer] = chain as [PaidPlanId, ...PaidPlanId[]];
  await customer.arrive();
  await customer.post(planOf('free').messageLimit!);
  const checkout = (await pageFor(customer, first))!;
  await rig.control('PUT', '/stripe/webhooks', {
    mode: 'deliver',
    phone,
  });
  await submit(checkout, {
    card: '4242424242424242',
    authentication: 'complete',
  });
  const messages = [await useUp(customer, first)];
  await customer.pass(hour * 3600);
  for (const plan of dearer) {
    // Weeks begin at whole seconds, and two that begin in the same one are the same week.
    await customer.pass(1);
    if (hour % 5 === 0) story.unpaid += await declineUpgrade(rig, customer, plan);
    await upgrade(rig, customer, plan);
    messages.push(await useUp(customer, plan));
  }
  const paid = paidWeeksOf(await holdingsOf(rig, customer), rig);
  story.weeks = paid.map((week, index) => ({
    ...week,
    messages: messages[index] ?? 0,
  }));
  const ending = hour % 3;
  if (ending === 0) story.unpaid += await declineRenewal(customer);
  else story.afterwards = await (ending === 1 ? dispute(customer) : deleteAndReturn(customer));
  return story;
}

function paidWeeksOf({ invoices }: Holdings, { tiers }: Rig): Omit<Week, 'messages'>[] {
  const paid = oldestFirst(invoices).filter(({ status }) => status === 'paid');
  return paid.map(({ amount_paid: moneyCents, lines: { data } }) => {
    const credits = data.filter(({ amount }) => amount < 0);
    const unused = credits.map((line) => {
      const { start, end } = line.period;
      return (centsOf(tiers.get(priceOf(line)) as PaidPlanId) * (end - start)) / secondsOfWeek;
    });
    return {
      moneyCents,
      creditCents: -sum(credits.map(({ amount }) => amount)),
      unusedCents: sum(unused),
    };
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
    await customer.call('getMe');
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

async function deleteAndReturn(customer: Customer): Promise<number> {
  let allowed = 0;
  for (let round = 0; round < 2; round += 1) {
    const { status } = await customer.call('deleteMe');
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

async function useUp(customer: Customer, plan: PaidPlanId): Promise<number> {
  await until(customer, plan);
  return postAll(customer, 100, 60, 30, 10, 1);
}

/** Waits until the plan is `tier`; a paid one with the whole week before it. */
async function until(customer: Customer, tier: string): Promise<void> {
  let usage: Json = {};
  for (const begun = performance.now(); performance.now() - begun < deadlineMs;) {
    usage = await customer.bot('botEntitlements');
    if (usage.tier === tier && (tier === 'free' || usage.used === 0)) return;
    await sleep(100);
  }
  throw new Error(
    `${customer.phone} waited ${deadlineMs / 1000} s for the plan ${tier}: ${JSON.stringify(usage)}`,
  );
}

/** What a chain costs: the price of its last plan, and the time of the first week that has passed. */
const wantedCents = ({ chain, hour }: Story) =>
  centsOf(chain.at(-1)!) + centsOf(chain[0]!) * (hour / hoursOfWeek);

/** What was paid and granted. */
const laws: Record<string, (story: Story) => boolean> = {
  'a week costs its price less the credit that was paid for': (story) =>
    Math.abs(paidCents(story) - wantedCents(story)) <= roundingCents,
  'each week is paid with its whole price, in money and in unused time': ({ chain, weeks }) =>
    weeks.length === chain.length &&
    weeks.every(
      ({ moneyCents, creditCents, unusedCents }, index) =>
        moneyCents + creditCents === centsOf(chain[index]!) &&
        Math.abs(creditCents - unusedCents) <= 1,
    ),
  'no message costs less than in its plan, with the time that was given up': (story) =>
    wholeCentsAMessage(story) >= cheapestPlanCents,
  'the messages are those of the plans that were paid for': (story) =>
    messagesOf(story) === sum(story.chain.map(limitOf)),
  [`no message costs less than ${leastCents.toFixed(2)} cents in money`]: (story) =>
    centsAMessage(story) >= leastCents,
  'a declined payment grants nothing': ({ unpaid }) => unpaid === 0,
  'a dispute or a return grants one free week at most': ({ afterwards }) =>
    afterwards <= planOf('free').messageLimit!,
};

export function auditUpgrades(stories: Story[]): Promise<Finding[]> {
  const findings = Object.entries(laws).map(([what, holds]) =>
    checkCases(what, stories, (story) => (holds(story) ? null : JSON.stringify(story))),
  );
  return Promise.all(findings);
}

const dollars = (cents: number, digits = 2): string => `$${(cents / 100).toFixed(digits)}`;

export function upgradeTable(stories: Story[]): string {
  const rows = chains.map((chain) => {
    const own = stories.filter((story) => story.chain === chain);
    const byPrice = own.toSorted((one, other) => centsAMessage(one) - centsAMessage(other));
    const [cheapest, dearest] = [byPrice[0]!, byPrice.at(-1)!];
    return [
      chain.join(', '),
      own.length,
      dollars(sum(own.map(paidCents))),
      sum(own.map(messagesOf)),
      `${dollars(centsAMessage(cheapest), 4)} (hour ${cheapest.hour})`,
      `${dollars(centsAMessage(dearest), 4)} (hour ${dearest.hour})`,
      dollars(Math.min(...own.map(wholeCentsAMessage)), 4),
    ];
  });
  const header = [
    'plans, each used up',
    'customers',
    'received',
    'messages',
    'lowest price of one',
    'highest',
  ];
  return partText({
    title: 'Upgrades at every hour of the week',
    header: [...header, 'lowest with time'],
    rows,
  });
}
