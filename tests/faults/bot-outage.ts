import type { Choices } from './choices.ts';
import { backlogOf, timeUntil } from './recovery.ts';
import { pause, untilClosing, type Fault, type World } from './world.ts';

export const outageSeconds = 60;

/** Neither has any effect; the second one is longer than the Worker waits. */
const manners = { 'hangs up': { drop: true }, 'does not respond': { drop: true, delayMs: 20_000 } } satisfies Record<
  string,
  Fault
>;

/** The bot answers no request for a minute. Records how many events waited then, and when the bot had them all. */
export async function stopBot(world: World, choices: Choices): Promise<void> {
  const { figures, rig, timeline } = world;
  const manner = choices.pick(Object.keys(manners) as (keyof typeof manners)[]);
  figures.injected('bot is down for a minute');
  timeline.note(`bot is down: ${manner}`);
  world.botOutage = manners[manner];
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
