import { setTimeout as sleep } from 'node:timers/promises';
import { ringMinute } from '../sandbox/clock.ts';
import type { Choices } from './choices.ts';
import { keepBreaking, mend } from './faults.ts';
import { fillWithPeople } from './load/crowd.ts';
import { keepStripeLively, passWeek } from './load/stripe-side.ts';
import { restart } from './recovery.ts';
import type { World } from './world.ts';

/** How often, at most, the Worker is killed and a week passes at Stripe. */
const restartEverySeconds = 90;
const weekEverySeconds = 200;
const drainMs = 60_000;

/** Load and faults together for so many seconds; answers when the services are mended and people came to rest. */
export async function storm(world: World, choices: Choices, seconds: number, close: () => void): Promise<void> {
  const busy = [
    fillWithPeople(world, choices.fork()),
    keepBreaking(world, choices.fork()),
    keepStripeLively(world, choices.fork()),
    inTheMiddle(seconds, restartEverySeconds, choices.fork(), () => restart(world)),
    inTheMiddle(seconds, weekEverySeconds, choices.fork(), () => passWeek(world)),
  ];
  await sleep(seconds * 1000);
  close();
  await mend(world);
  await Promise.race([Promise.all(busy), keepRinging(world)]);
  await world.rig.control('PUT', '/stripe/webhooks', { mode: 'deliver' });
}

/** Once in every stretch of time, somewhere in its middle half. */
async function inTheMiddle(seconds: number, every: number, choices: Choices, act: () => Promise<void>): Promise<void> {
  const times = Math.max(1, Math.floor(seconds / every));
  const stretchMs = (seconds * 1000) / times;
  const begun = performance.now();
  for (let index = 0; index < times; index += 1) {
    const at = (index + 0.25 + choices.next() / 2) * stretchMs;
    await sleep(Math.max(0, begun + at - performance.now()));
    await act();
  }
}

async function keepRinging({ rig }: World): Promise<void> {
  const until = performance.now() + drainMs;
  while (performance.now() < until) {
    await ringMinute(rig.product.siteUrl);
    await sleep(2000);
  }
}
