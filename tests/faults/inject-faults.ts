import { setTimeout as sleep } from 'node:timers/promises';
import { runMinuteCron } from '../product/cron-clock.ts';
import type { Choices } from './choices.ts';
import { outageSeconds, stopBot } from './bot-outage.ts';
import { breakServices, mend } from './faults.ts';
import { keepAttacking } from './attack/keep-attacking.ts';
import { keepRefusing } from './chat/bot-side.ts';
import { fillWithPeople } from './load/crowd.ts';
import { disturbStripe, passWeek } from './load/stripe-side.ts';
import { restart } from './recovery.ts';
import type { World } from './world.ts';

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
  const busy = [
    fillWithPeople(world, choices.fork()),
    breakServices(world, choices.fork()),
    disturbStripe(world, choices.fork()),
    keepAttacking(world, choices.fork()),
    keepRefusing(world, choices.fork(), seconds >= longRunSeconds),
    inTheMiddle(seconds, restartEverySeconds, choices.fork(), () => restart(world, choices.fork())),
    inTheMiddle(seconds, weekEverySeconds, choices.fork(), () => passWeek(world)),
    ...(seconds >= leastForOutage ? [stopBotAtTimes(world, choices.fork(), seconds)] : []),
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

function stopBotAtTimes(world: World, choices: Choices, seconds: number): Promise<void> {
  return inTheMiddle(seconds, outageEverySeconds, choices, () => stopBot(world, choices.fork()), outageSeconds);
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
