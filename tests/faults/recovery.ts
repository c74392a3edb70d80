import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../sandbox/fault-response.ts';
import { sendMessage } from './chat/write-message.ts';
import type { Choices } from './choices.ts';
import { signedIn } from './invariants/accounts.ts';
import { Stuck, type World } from './world.ts';

const stepMs = 100;
const patienceMs = 120_000;

/** Records the recovery time of the product after a service works again, if the product has pending work for it. */
export async function timeRecovery(world: World, service: Service): Promise<void> {
  if (service === 'libsql') await timeUntil(world, 'database mended, healthy', () => isHealthy(world));
  if (service === 'bot') await timeBacklog(world);
}

/** Kills the Worker while messages are in flight, and restarts it; records the time until it responded. */
export async function restart(world: World, choices: Choices): Promise<void> {
  const { figures, latencies, rig, timeline } = world;
  figures.restarts += 1;
  const writers = signedIn(world).filter(({ conversation }) => conversation.consented);
  const sending = writers.map((person) => sendMessage(world, person, false));
  // Somewhere between the request, the stored message and the response.
  await sleep(choices.between(1, 60));
  const recovered = timeUntil(world, 'Worker killed, responds', () => answers(world));
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

/** Records the time until the bot has received all pending events. */
async function timeBacklog(world: World): Promise<void> {
  const { rows } = await world.rig.database.execute('select max(seq) as last from outbox').catch(() => ({ rows: [] }));
  const last = rows[0]?.last;
  if (!last) return;
  const sql = 'select count(*) as left from outbox where seq <= ?';
  await timeUntil(world, 'bot mended, every event received', async () => {
    const { rows } = await world.rig.database.execute({ sql, args: [last] });
    return rows[0]?.left === 0;
  });
}

async function timeUntil({ figures, givenUp }: World, from: string, holds: () => Promise<boolean>): Promise<void> {
  const begun = performance.now();
  await sleep(stepMs);
  while (!(await holds().catch(() => false))) {
    if (givenUp.aborted || performance.now() - begun > patienceMs) return;
    await sleep(stepMs);
  }
  figures.recovered(from, performance.now() - begun);
}

async function isHealthy({ rig }: World): Promise<boolean> {
  const response = await fetch(`${rig.product.siteUrl}/api/health`);
  await response.body?.cancel();
  return response.ok;
}

async function answers({ rig }: World): Promise<boolean> {
  const response = await fetch(`${rig.product.siteUrl}/api/openapi.json`);
  await response.body?.cancel();
  return response.ok;
}
