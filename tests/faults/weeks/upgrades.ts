import { type PaidPlanId, paidPlanIds, planOf } from '../../../worker/contract/plans.ts';
import { partText } from '../../bench/report.ts';
import type { Choices } from '../person.ts';
import { checkCases, type Finding } from '../invariants/accounts.ts';
import type { Holdings } from '../invariants/subscriptions.ts';
import { submit } from '../load/acts.ts';
import type { Rig } from '../rig.ts';
import type { Json } from '../site.ts';
import { Customer, pageFor, type Simulation } from './customer.ts';

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
  ending: 'declines' | 'disputes' | 'returns';
};

/** `creditCents`: what was taken off its price for `unusedCents`, the share of the week before that was given up. */
type Week = { moneyCents: number; creditCents: number; unusedCents: number; messages: number };

const endings = ['declines', 'disputes', 'returns'] as const;
const priceOf = (id: PaidPlanId) => planOf(id).weeklyCents;
const limitOf = (id: PaidPlanId) => planOf(id).messageLimit!;
const total = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0);
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
export const leastCents = Math.min(...chains.map((chain) => priceOf(chain.at(-1)!) / total(chain.map(limitOf))));
/** US cents: a message of the plan that sells it cheapest. */
const cheapestPlanCents = Math.min(...paidPlanIds.map((id) => priceOf(id) / limitOf(id)));

/** Every selection of plans, in their order. */
function chainsOf([first, ...dearer]: readonly PaidPlanId[]): PaidPlanId[][] {
  if (!first) return [[]];
  const others = chainsOf(dearer);
  return [...others.map((chain) => [first, ...chain]), ...others];
}

/** Upgrades at every hour of the week, by every chain in turn and by all of them in the first hour. */
export async function upgradeAtEveryHour(simulation: Simulation, people: number, choices: Choices): Promise<Story[]> {
  const plots = Array.from({ length: hoursOfWeek }, (_, hour) => ({ hour, chain: chains[hour % chains.length]! }));
  const queue = [...chains.slice(1).map((chain) => ({ hour: 0, chain })), ...plots];
  const stories: Story[] = [];
  const work = async () => {
    for (let plot = queue.shift(); plot; plot = queue.shift()) {
      const customer = new Customer(people + queue.length, choices.fork(), simulation);
      stories.push(await live(simulation.rig, customer, plot));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return stories;
}

async function live(rig: Rig, customer: Customer, { hour, chain }: Pick<Story, 'hour' | 'chain'>): Promise<Story> {
  const { phone } = customer;
  const ending = endings[hour % endings.length]!;
  const story: Story = { phone, hour, chain, weeks: [], unpaid: 0, afterwards: 0, ending };
  const [first, ...dearer] = chain as [PaidPlanId, ...PaidPlanId[]];
  await customer.arrive();
  await customer.post(planOf('free').messageLimit!);
  const checkout = (await pageFor(customer, first))!;
  await rig.control('PUT', '/stripe/webhooks', { mode: 'deliver', phone });
  await submit(checkout.href, { card: '4242424242424242', authentication: 'complete' });
  const messages = [await useUp(customer, first)];
  await pass(rig, customer, hour * 3600);
  for (const plan of dearer) {
    // Weeks begin at whole seconds, and two that begin in the same one are the same week.
    await pass(rig, customer, 1);
    if (hour % 5 === 0) story.unpaid += await declineUpgrade(rig, customer, plan);
    await upgrade(rig, customer, plan);
    messages.push(await useUp(customer, plan));
  }
  const holdings = await rig.control<Holdings>('GET', customer.path('stripe/customers'));
  story.weeks = weeksOf(holdings, rig.tiers).map((week, index) => ({ ...week, messages: messages[index] ?? 0 }));
  if (ending === 'declines') story.unpaid += await declineRenewal(rig, customer);
  else story.afterwards = await (ending === 'disputes' ? dispute(customer) : deleteAndReturn(customer));
  return story;
}

/** What was paid for each week, by the paid invoices. */
function weeksOf({ invoices }: Holdings, tiers: Map<string, string>): Omit<Week, 'messages'>[] {
  const paid = invoices.filter(({ status }) => status === 'paid').toSorted((a, b) => a.created - b.created);
  return paid.map(({ amount_paid: moneyCents, lines: { data } }) => {
    const credits = data.filter(({ amount }) => amount < 0);
    const worth = credits.map(({ period: { start, end }, pricing }) => {
      const plan = tiers.get(pricing.price_details.price) as PaidPlanId;
      return (priceOf(plan) * (end - start)) / secondsOfWeek;
    });
    return { moneyCents, creditCents: -total(credits.map(({ amount }) => amount)), unusedCents: total(worth) };
  });
}

const pass = (rig: Rig, { phone }: Customer, seconds: number) =>
  rig.control('POST', '/stripe/clock', { advanceSeconds: seconds, phone });

async function upgrade(rig: Rig, customer: Customer, plan: PaidPlanId): Promise<number> {
  const portal = (await pageFor(customer, plan))!;
  const price = [...rig.tiers].find(([, tier]) => tier === plan)![0];
  return (await submit(`${portal.href}/switch`, { price })).status;
}

/** Returns the messages that a declined upgrade grants. */
async function declineUpgrade(rig: Rig, customer: Customer, plan: PaidPlanId): Promise<number> {
  await customer.stripe('card', { declines: true });
  const status = await upgrade(rig, customer, plan);
  if (status !== 402) throw new Error(`${customer.phone}: a declined upgrade answered ${status}`);
  await pass(rig, customer, 0);
  const allowed = await customer.post(1);
  await customer.stripe('card', { declines: false });
  return allowed ? 1 : 0;
}

/** Returns the messages that are allowed in the hour of the draft of a renewal, and after its payment was declined. */
async function declineRenewal(rig: Rig, customer: Customer): Promise<number> {
  await customer.stripe('card', { declines: true });
  let allowed = 0;
  for (const seconds of [7 * 86_400, 1800, 2 * 3600]) {
    await pass(rig, customer, seconds);
    await customer.call('profile', 'GET', '/api/user/me');
    if (await customer.post(1)) allowed += 1;
  }
  return allowed;
}

/** Returns the messages that are allowed after the bank took the last payment back. */
async function dispute(customer: Customer): Promise<number> {
  await customer.stripe('dispute');
  await until(customer, 'free');
  return postEach(customer);
}

/** Returns the messages that are allowed after two deletions in the same week. */
async function deleteAndReturn(customer: Customer): Promise<number> {
  let allowed = 0;
  for (let round = 0; round < 2; round += 1) {
    const { status } = await customer.call('leave', 'DELETE', '/api/user/me');
    if (status !== 200) throw new Error(`${customer.phone}: the deletion answered ${status}`);
    await customer.arrive();
    allowed += await postEach(customer);
  }
  return allowed;
}

/** Posts single messages until one is refused; returns how many were allowed. */
async function postEach(customer: Customer): Promise<number> {
  let allowed = 0;
  while (await customer.post(1)) allowed += 1;
  return allowed;
}

/** Waits for the plan, uses up its week, and returns the messages. */
async function useUp(customer: Customer, plan: PaidPlanId): Promise<number> {
  await until(customer, plan);
  let used = 0;
  for (const count of [100, 60, 30, 10, 1]) while (await customer.post(count)) used += count;
  return used;
}

/** Waits until the plan is `tier`; a paid one with the whole week before it. */
async function until(customer: Customer, tier: string): Promise<void> {
  let usage: Json = {};
  for (const begun = performance.now(); performance.now() - begun < deadlineMs;) {
    usage = await customer.entitlements();
    if (usage.tier === tier && (tier === 'free' || usage.used === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${customer.phone} waited ${deadlineMs / 1000} s for the plan ${tier}: ${JSON.stringify(usage)}`);
}

/** What a chain costs: the price of its last plan, and the time of the first week that has passed. */
const wantedCents = ({ chain, hour }: Story) => priceOf(chain.at(-1)!) + priceOf(chain[0]!) * (hour / hoursOfWeek);

/** The laws of what was paid and granted. */
export async function auditUpgrades(stories: Story[]): Promise<Finding[]> {
  const told = ({ phone, hour, chain }: Story) => `${phone} (${chain.join(', ')} after ${hour} h)`;
  const freeWeek = planOf('free').messageLimit!;
  return [
    await checkCases('a week costs its price less the credit that was paid for', stories, (story) =>
      Math.abs(paidCents(story) - wantedCents(story)) <= roundingCents
        ? null
        : `${told(story)} paid ${paidCents(story)} cents instead of ${wantedCents(story).toFixed(0)}`,
    ),
    await checkCases('each week is paid with its whole price, in money and in unused time', stories, (story) => {
      const prices = story.chain.map(priceOf);
      const wrong = prices.findIndex((price, index) => {
        const { moneyCents = 0, creditCents = 0, unusedCents = 0 } = story.weeks[index] ?? {};
        return moneyCents + creditCents !== price || Math.abs(creditCents - unusedCents) > 1;
      });
      return wrong < 0 && story.weeks.length === prices.length
        ? null
        : `${told(story)} paid its weeks with ${JSON.stringify(story.weeks)}`;
    }),
    await checkCases('no message costs less than in its plan, with the time that was given up', stories, (story) =>
      wholeCentsAMessage(story) >= cheapestPlanCents
        ? null
        : `${told(story)} paid ${wholeCentsAMessage(story)} cents for each message`,
    ),
    await checkCases('the messages are those of the plans that were paid for', stories, (story) => {
      const granted = total(story.chain.map(limitOf));
      return messagesOf(story) === granted
        ? null
        : `${told(story)} wrote ${messagesOf(story)} messages instead of ${granted}`;
    }),
    await checkCases(`no message costs less than ${leastCents.toFixed(2)} cents in money`, stories, (story) =>
      centsAMessage(story) >= leastCents ? null : `${told(story)} paid ${centsAMessage(story)} cents for each message`,
    ),
    await checkCases('a declined payment grants nothing', stories, (story) =>
      story.unpaid === 0 ? null : `${told(story)} wrote ${story.unpaid} unpaid messages`,
    ),
    await checkCases('a dispute or a return grants one free week at most', stories, (story) =>
      story.afterwards <= freeWeek ? null : `${told(story)}, ${story.ending}: ${story.afterwards} free messages`,
    ),
  ];
}

/** Money and messages of each chain, in US dollars. */
export function upgradeTable(stories: Story[]): string {
  const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`;
  const rows = chains.map((chain) => {
    const own = stories.filter((story) => story.chain === chain);
    const sum = (of: (story: Story) => number) => total(own.map(of));
    const cheapest = own.toSorted((one, other) => centsAMessage(one) - centsAMessage(other))[0]!;
    const dearest = own.toSorted((one, other) => centsAMessage(other) - centsAMessage(one))[0]!;
    return [
      chain.join(', '),
      String(own.length),
      dollars(sum(paidCents)),
      String(sum(messagesOf)),
      `$${(centsAMessage(cheapest) / 100).toFixed(4)} (hour ${cheapest.hour})`,
      `$${(centsAMessage(dearest) / 100).toFixed(4)} (hour ${dearest.hour})`,
      `$${(Math.min(...own.map(wholeCentsAMessage)) / 100).toFixed(4)}`,
    ];
  });
  const header = [
    'plans, each used up',
    'customers',
    'received',
    'messages',
    'lowest price of one',
    'highest',
    'lowest with time',
  ];
  return partText({ title: 'Upgrades at every hour of the week', header, rows, targets: [] });
}
