import { setTimeout as sleep } from 'node:timers/promises';
import { runMinuteCron } from '../product/start-product.ts';
import type { Choices } from './person.ts';
import { keepAttacking } from './load/attack.ts';
import { keepRefusing, sendAny } from './load/conversation.ts';
import { fillWithPeople } from './load/journey.ts';
import { type World, type Fault, pause, untilClosing, Stuck } from './rig.ts';
import { services, type Service } from '../sandbox/fault-injection.ts';
import { signedIn } from './invariants/accounts.ts';

/** The shortest intervals between two kills of the Worker, two weeks at Stripe, and two outages of the bot. */
const restartEverySeconds = 90;
const weekEverySeconds = 200;
/** A shorter run has no outage of the bot. */
const leastForOutage = 150;
const outageEverySeconds = 300;
const drainMs = 300_000;
/** A message without a response keeps its lease for 30 s: too long for a short run. */
const longRunSeconds = 120;

/** Runs load and faults for so many seconds; resolves when the services work and every user has stopped. */
export async function injectFaults(world: World, choices: Choices, seconds: number, close: () => void): Promise<void> {
  const outages = (own: Choices) =>
    inTheMiddle(seconds, outageEverySeconds, own, () => stopBot(world, own.fork()), outageSeconds);
  const busy = [
    fillWithPeople(world, choices.fork()),
    breakServices(world, choices.fork()),
    disturbStripe(world, choices.fork()),
    keepAttacking(world, choices.fork()),
    keepRefusing(world, choices.fork(), seconds >= longRunSeconds),
    inTheMiddle(seconds, restartEverySeconds, choices.fork(), () => restart(world, choices.fork())),
    inTheMiddle(seconds, weekEverySeconds, choices.fork(), () => passWeek(world)),
    ...(seconds >= leastForOutage ? [outages(choices.fork())] : []),
  ];
  await sleep(seconds * 1000);
  close();
  await mend(world);
  await world.rig.control('PUT', '/bot/mode', { mode: 'answer' });
  if (seconds < longRunSeconds) await skipPauses(world);
  await Promise.race([Promise.all(busy), runCronUntilClosing(world)]);
  await world.rig.control('PUT', '/stripe/webhooks', { mode: 'deliver' });
  if (seconds < longRunSeconds) await skipPauses(world);
}

/** Shortens the pauses between two retries, which are up to an hour long. */
async function skipPauses({ people, rig }: World): Promise<void> {
  await rig.database.execute('update outbox set due_at = 0 where parked_at is null');
  for (const { chats, followers } of people) for (const tab of [...chats, ...followers]) tab.stream.wake();
}

/** Acts once per interval, at a random instant in its middle half, so that the act ends within the interval. */
async function inTheMiddle(
  seconds: number,
  every: number,
  choices: Choices,
  act: () => Promise<void>,
  lasts = 0,
): Promise<void> {
  const times = Math.max(1, Math.floor(seconds / every));
  const stretchMs = (seconds * 1000) / times;
  const begun = performance.now();
  for (let index = 0; index < times; index += 1) {
    const at = index * stretchMs + (0.25 + choices.next() / 2) * (stretchMs - lasts * 1000);
    await sleep(Math.max(0, begun + at - performance.now()));
    await act();
  }
}

async function runCronUntilClosing({ rig }: World): Promise<void> {
  const until = performance.now() + drainMs;
  while (performance.now() < until) {
    await runMinuteCron(rig.product.siteUrl);
    await sleep(2000);
  }
}

const manners = ['refuses', 'hangs up', 'loses its responses', 'is slow', 'is silent'] as const;
type Manner = (typeof manners)[number];

/** A delay longer than the Worker's timeout, so that the work is done after the Worker has given up. */
const faultOf: Record<Manner, (choices: Choices) => Fault> = {
  refuses: (choices) => ({ status: choices.pick([500, 503, 429]) }),
  'hangs up': () => ({ drop: true }),
  'loses its responses': () => ({ cut: true }),
  'is slow': (choices) => ({ delayMs: choices.between(200, 1500) }),
  'is silent': () => ({ delayMs: 9500 }),
};

type Break = { service: Service; manner: Manner };

/** Repeats until the end: breaks one or two services, repairs them, pauses. */
async function breakServices(world: World, choices: Choices): Promise<void> {
  const { closing, figures, latencies, timeline } = world;
  const next = dealer(choices);
  await sleep(4000);
  while (!closing.aborted) {
    const dealt = choices.chance(0.2) ? [next(), next()] : [next()];
    const breaks = dealt.filter(({ service }) => service !== 'bot' || !world.botOutage);
    for (const { service, manner } of breaks) {
      figures.injected(`${service} ${manner}`);
      timeline.note(`${service} ${manner}`);
    }
    latencies.disturb();
    const faults = breaks.map(({ service, manner }) => [service, faultOf[manner](choices)]);
    await setFaults(world, Object.fromEntries(faults));
    await sleep(choices.between(300, 3000));
    await mend(world);
    latencies.calm();
    for (const { service } of breaks) void timeRecovery(world, service);
    await sleep(choices.between(400, 2200));
  }
}

/** Every service works again, except a bot that is down. */
async function mend(world: World): Promise<void> {
  await setFaults(world, {});
  world.timeline.note('every service works');
}

/** Replaces all faults. */
async function setFaults({ rig, botOutage }: World, faults: Partial<Record<Service, Fault>>): Promise<void> {
  const none = Object.fromEntries(services.map((service) => [service, null]));
  await rig.control('PUT', '/faults', { ...none, ...faults, ...(botOutage && { bot: botOutage }) });
}

/** Returns every fault of every service in random order before it repeats one. */
function dealer(choices: Choices): () => Break {
  let deck: Break[] = [];
  return () => {
    if (deck.length === 0) deck = services.flatMap((service) => manners.map((manner) => ({ service, manner })));
    return deck.splice(choices.between(0, deck.length - 1), 1)[0]!;
  };
}

const outageSeconds = 60;

/** Neither has any effect; the second one is longer than the Worker waits. */
const outageManners = {
  'hangs up': { drop: true },
  'does not respond': { drop: true, delayMs: 20_000 },
} satisfies Record<string, Fault>;

/** The bot answers no request for a minute. Records how many events waited then, and when the bot had them all. */
async function stopBot(world: World, choices: Choices): Promise<void> {
  const { figures, rig, timeline } = world;
  const manner = choices.pick(Object.keys(outageManners) as (keyof typeof outageManners)[]);
  figures.injected('bot is down for a minute');
  timeline.note(`bot is down: ${manner}`);
  world.botOutage = outageManners[manner];
  await rig.control('PUT', '/faults', { bot: world.botOutage });
  await untilClosing(world, outageSeconds * 1000);
  world.botOutage = null;
  await rig.control('PUT', '/faults', { bot: null });
  timeline.note('bot is up');
  const { last, waiting } = await untilRead(world);
  const receivedMs = await timeUntil(world, async () => (await backlogOf(world, last)).waiting === 0);
  figures.outages.push({ manner, waiting, receivedMs });
}

/** The backlog, as soon as the database responds. */
async function untilRead(world: World): Promise<{ last: number; waiting: number }> {
  for (;;) {
    const backlog = await backlogOf(world).catch(() => null);
    if (backlog) return backlog;
    await pause(world, 100);
  }
}

const stepMs = 100;
const patienceMs = 120_000;

/** Records the recovery time of the product after a service works again, if the product has pending work for it. */
async function timeRecovery(world: World, service: Service): Promise<void> {
  if (service === 'libsql')
    await recordRecovery(world, 'database mended, healthy', () => responds(world, '/api/health'));
  if (service !== 'bot') return;
  const { waiting = 0, last } = (await backlogOf(world).catch(() => null)) ?? {};
  const isEmpty = async () => !(await backlogOf(world, last)).waiting;
  if (waiting > 0) await recordRecovery(world, 'bot mended, every event received', isEmpty);
}

/** Kills the Worker while messages are in flight, and restarts it; records the time until it responded. */
async function restart(world: World, choices: Choices): Promise<void> {
  const { figures, latencies, rig, timeline } = world;
  figures.restarts += 1;
  const writers = signedIn(world).filter(({ conversation }) => conversation.consented);
  const sending = writers.map((person) => sendAny(world, person, false));
  // Somewhere between the request, the stored message and the response.
  await sleep(choices.between(1, 60));
  const recovered = recordRecovery(world, 'Worker killed, responds', () => responds(world, '/api/openapi.json'));
  timeline.note('Worker killed');
  latencies.disturb();
  await rig.product.restartWorker();
  await recovered;
  latencies.calm();
  timeline.note('Worker responds');
  await Promise.all(sending).catch((error: unknown) => {
    if (!(error instanceof Stuck)) world.seen.push(`a message during a restart: ${String(error)}`);
  });
}

/** The events up to a `seq` that wait for the bot: how many, and the last one. */
async function backlogOf({ rig }: World, upTo = Number.MAX_SAFE_INTEGER) {
  const sql = 'select max(seq) as last, count(*) as waiting from outbox where seq <= ? and parked_at is null';
  const { rows } = await rig.database.execute({ sql, args: [upTo] });
  return { last: Number(rows[0]!.last), waiting: Number(rows[0]!.waiting) };
}

async function recordRecovery(world: World, from: string, holds: () => Promise<boolean>): Promise<void> {
  const ms = await timeUntil(world, holds);
  if (ms !== null) world.figures.recovered(from, ms);
}

/** The time (ms) until a condition holds; null if it is too long. */
async function timeUntil({ givenUp }: World, holds: () => Promise<boolean>): Promise<number | null> {
  const begun = performance.now();
  await sleep(stepMs);
  while (!(await holds().catch(() => false))) {
    if (givenUp.aborted || performance.now() - begun > patienceMs) return null;
    await sleep(stepMs);
  }
  return performance.now() - begun;
}

async function responds({ rig }: World, path: string): Promise<boolean> {
  const response = await fetch(rig.product.siteUrl + path);
  await response.body?.cancel();
  return response.ok;
}

const week = 7 * 86_400;

type Event = 'late' | 'again' | 'card fails' | 'card works';

/** Stripe's behaviour until the end: late, repeated and reordered events, and failing cards. */
async function disturbStripe({ rig, people, closing, seen }: World, choices: Choices): Promise<void> {
  const buyers = () => people.filter(({ checkouts, left }) => checkouts > 0 && !left);
  const somebody = () => choices.pick(buyers());
  const path = (who: ReturnType<typeof somebody>) => `/stripe/customers/${encodeURIComponent(who.phone)}/card`;
  const events: Record<Event, () => Promise<unknown>> = {
    async late() {
      await rig.control('PUT', '/stripe/webhooks', { mode: 'hold' });
      await sleep(choices.between(500, 4000));
      await rig.control('PUT', '/stripe/webhooks', { mode: 'deliver' });
    },
    again: () => {
      const order = choices.pick(['original', 'reversed']);
      return rig.control('POST', '/stripe/webhooks/redeliver', { order, phone: somebody().phone });
    },
    'card fails': () => rig.control('POST', path(somebody()), { declines: true }),
    'card works': () => rig.control('POST', path(somebody()), { declines: false }),
  };
  while (!closing.aborted) {
    await sleep(choices.between(1000, 3000));
    const event = choices.weighted<Event>({ late: 3, again: 4, 'card fails': 1, 'card works': 1 });
    if (buyers().length > 0)
      await events[event]().catch((error: unknown) => seen.push(`Stripe, ${event}: ${String(error)}`));
  }
}

/** Advances Stripe's clock by a week: plans renew, trials end, cards are charged. */
async function passWeek({ rig, seen }: World): Promise<void> {
  await rig
    .control('POST', '/stripe/clock', { advanceSeconds: week })
    .catch((error: unknown) => seen.push(`Stripe's week: ${String(error)}`));
}
