import { setTimeout as sleep } from 'node:timers/promises';
import { and, isNull, lte } from 'drizzle-orm';
import { outbox } from '#db/schema';
import { runMinuteCron } from '../product/start-product.ts';
import { type Fault, services, type Service } from '../sandbox/fault-injection.ts';
import { weekMs } from '../../worker/usage/week.ts';
import { signedIn } from './invariants/accounts.ts';
import { keepAttacking } from './load/attack.ts';
import { keepRefusing, sendMessage } from './load/conversation.ts';
import { fillWithPeople } from './load/journey.ts';
import type { Choices } from './person.ts';
import { type World, untilClosing, Stuck } from './rig.ts';

/** A shorter run has no outage of the bot. */
const leastForOutage = 150;
const outageSeconds = 60;
const drainMs = 300_000;
/** A message without a response keeps its lease for 30 s: too long for a short run. */
const longRunSeconds = 120;

/** Runs load and faults for so many seconds; resolves when the services work and every user has stopped. */
export async function injectFaults(
  world: World,
  choices: Choices,
  seconds: number,
  close: () => void,
): Promise<void> {
  const { rig, seen } = world;
  const passWeek = async () => {
    const passed = rig.control('POST', '/stripe/clock', { advanceSeconds: weekMs / 1000 });
    await passed.catch((error: unknown) => seen.push(`Stripe's week: ${String(error)}`));
  };
  const times = { seconds, choices };
  const outage = { ...times, every: 300, lasts: outageSeconds };
  const busy = [
    fillWithPeople(world, choices.fork()),
    breakServices(world, choices.fork()),
    disturbStripe(world, choices.fork()),
    keepAttacking(world, choices.fork()),
    keepRefusing(world, choices.fork(), seconds >= longRunSeconds),
    inTheMiddle({ ...times, every: 90 }, (own) => restart(world, own)),
    inTheMiddle({ ...times, every: 200 }, passWeek),
    ...(seconds >= leastForOutage ? [inTheMiddle(outage, (own) => stopBot(world, own))] : []),
  ];
  await sleep(seconds * 1000);
  close();
  await setFaults(world, {});
  await rig.control('PUT', '/bot/mode', { mode: 'answer' });
  if (seconds < longRunSeconds) await skipPauses(world);
  await Promise.race([Promise.all(busy), runCronForAWhile(world)]);
  await rig.control('PUT', '/stripe/webhooks', { mode: 'deliver' });
  if (seconds < longRunSeconds) await skipPauses(world);
}

/** Shortens the pauses between two retries, which are up to an hour long. */
async function skipPauses({ people, rig }: World): Promise<void> {
  await rig.database.update(outbox).set({ dueAt: 0 }).where(isNull(outbox.parkedAt));
  for (const { tabs } of people) for (const tab of tabs) tab.wake();
}

type Times = {
  seconds: number;
  every: number;
  lasts?: number;
  choices: Choices;
};

/** Acts once per interval of at least `every` seconds, at a random instant in its middle half, so that the act ends within the interval. */
async function inTheMiddle(
  { seconds, every, lasts = 0, choices }: Times,
  act: (own: Choices) => Promise<void>,
) {
  const own = choices.fork();
  const times = Math.max(1, Math.floor(seconds / every));
  const stretchMs = (seconds * 1000) / times;
  const begun = performance.now();
  for (let index = 0; index < times; index += 1) {
    const at = index * stretchMs + (0.25 + own.next() / 2) * (stretchMs - lasts * 1000);
    await sleep(Math.max(0, begun + at - performance.now()));
    await act(own);
  }
}

async function runCronForAWhile({ rig }: World): Promise<void> {
  const until = performance.now() + drainMs;
  while (performance.now() < until) {
    await runMinuteCron(rig.product.siteUrl);
    await sleep(2000);
  }
}

const faultOf: Record<string, (choices: Choices) => Fault> = {
  refuses: (choices) => ({ status: choices.pick([500, 503, 429]) }),
  'hangs up': () => ({ drop: true }),
  'loses its responses': () => ({ cut: true }),
  'is slow': (choices) => ({ delayMs: choices.between(200, 1500) }),
  // Longer than the Worker's timeout, so that the work is done after the Worker has given up.
  'is silent': () => ({ delayMs: 9500 }),
};

const manners = Object.keys(faultOf);
type Break = { service: Service; manner: string };

async function breakServices(world: World, choices: Choices): Promise<void> {
  const { closing, figures } = world;
  // Every fault of every service, in random order, before one is repeated.
  let deck: Break[] = [];
  const next = () => {
    if (deck.length === 0)
      deck = services.flatMap((service) =>
        manners.map((manner) => ({
          service,
          manner,
        })),
      );
    return deck.splice(choices.between(0, deck.length - 1), 1)[0]!;
  };
  await sleep(4000);
  while (!closing.aborted) {
    const dealt = choices.chance(0.2) ? [next(), next()] : [next()];
    const breaks = dealt.filter(({ service }) => service !== 'bot' || !botOutage);
    for (const { service, manner } of breaks) figures.injected(`${service} ${manner}`);
    figures.latencies.disturb();
    const faults = breaks.map(({ service, manner }) => [service, faultOf[manner]!(choices)]);
    await setFaults(world, Object.fromEntries(faults));
    await sleep(choices.between(300, 3000));
    await setFaults(world, {});
    figures.latencies.calm();
    await sleep(choices.between(400, 2200));
  }
}

/** Replaces all faults; only a bot that is down stays so. */
async function setFaults(
  { rig, figures }: World,
  faults: Partial<Record<Service, Fault>>,
): Promise<void> {
  const none = Object.fromEntries(services.map((service) => [service, null]));
  await rig.control('PUT', '/faults', {
    ...none,
    ...faults,
    ...(botOutage && { bot: botOutage }),
  });
  if (Object.keys(faults).length === 0) figures.timeline.note('every service works');
}

/** Neither has any effect; the second one is longer than the Worker waits. */
const outageFaults: Record<string, Fault> = {
  'hangs up': { drop: true },
  'does not respond': { drop: true, delayMs: 20_000 },
};
/** The fault of a bot that is down; no other fault replaces it. */
let botOutage: Fault | null = null;

/** The bot answers no request for a minute. Records how many events waited then, and when the bot had them all. */
async function stopBot(world: World, choices: Choices): Promise<void> {
  const { figures, rig } = world;
  const manner = choices.pick(Object.keys(outageFaults));
  figures.injected('bot is down for a minute');
  botOutage = outageFaults[manner]!;
  await rig.control('PUT', '/faults', { bot: botOutage });
  await untilClosing(world, outageSeconds * 1000);
  botOutage = null;
  await rig.control('PUT', '/faults', { bot: null });
  figures.timeline.note('bot is up');
  figures.outages.push({ manner, ...(await untilReceived(world)) });
}

const stepMs = 100;
const patienceMs = 120_000;

/** How many events wait for the bot, as soon as the database responds, and the time (ms) until the bot has them all. */
async function untilReceived(world: World) {
  const { database } = world.rig;
  const isWaiting = isNull(outbox.parkedAt);
  let events: { seq: number }[] = [];
  await timeUntil(world, async () => {
    events = await database.select({ seq: outbox.seq }).from(outbox).where(isWaiting);
    return true;
  });
  const last = Math.max(0, ...events.map(({ seq }) => seq));
  const isEmpty = async () =>
    (await database.$count(outbox, and(isWaiting, lte(outbox.seq, last)))) === 0;
  return {
    waiting: events.length,
    receivedMs: await timeUntil(world, isEmpty),
  };
}

async function restart(world: World, choices: Choices): Promise<void> {
  const { figures, rig, seen } = world;
  figures.restarts += 1;
  const writers = signedIn(world).filter(({ conversation }) => conversation.consented);
  const sending = writers.map((person) => sendMessage(world, person, { hangUp: false }));
  // Somewhere between the request, the stored message and the response.
  await sleep(choices.between(1, 60));
  figures.timeline.note('Worker killed');
  figures.latencies.disturb();
  const killed = performance.now();
  await rig.product.restartWorker();
  await timeUntil(world, async () => {
    const response = await fetch(`${rig.product.siteUrl}/api/openapi.json`);
    await response.body?.cancel();
    return response.ok;
  });
  figures.slowestRestartMs = Math.max(figures.slowestRestartMs, performance.now() - killed);
  figures.latencies.calm();
  figures.timeline.note('Worker responds');
  await Promise.all(sending).catch((error: unknown) => {
    if (!(error instanceof Stuck)) seen.push(`a message during a restart: ${String(error)}`);
  });
}

/** The time (ms) until a condition holds; null if it is too long. */
async function timeUntil(
  { givenUp }: World,
  holds: () => Promise<boolean>,
): Promise<number | null> {
  const begun = performance.now();
  await sleep(stepMs);
  while (!(await holds().catch(() => false))) {
    if (givenUp.aborted || performance.now() - begun > patienceMs) return null;
    await sleep(stepMs);
  }
  return performance.now() - begun;
}

async function disturbStripe(
  { rig, people, closing, seen }: World,
  choices: Choices,
): Promise<void> {
  const events = {
    async late() {
      await rig.control('PUT', '/stripe/webhooks', { mode: 'hold' });
      await sleep(choices.between(500, 4000));
      await rig.control('PUT', '/stripe/webhooks', { mode: 'deliver' });
    },
    again: (phone: string) =>
      rig.control('POST', '/stripe/webhooks/redeliver', {
        order: choices.pick(['original', 'reversed']),
        phone,
      }),
    card: (phone: string) =>
      rig.control('POST', `/stripe/customers/${encodeURIComponent(phone)}/card`, {
        declines: choices.chance(0.5),
      }),
  };
  while (!closing.aborted) {
    await sleep(choices.between(1000, 3000));
    const buyers = people.filter(({ checkouts, left }) => checkouts > 0 && !left);
    if (buyers.length === 0) continue;
    const event = choices.weighted<keyof typeof events>({
      late: 3,
      again: 4,
      card: 2,
    });
    await events[event](choices.pick(buyers).phone).catch((error: unknown) =>
      seen.push(`Stripe, ${event}: ${String(error)}`),
    );
  }
}
