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
  if (service === 'libsql') await recordRecovery(world, 'database mended, healthy', () => isHealthy(world));
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
  const recovered = recordRecovery(world, 'Worker killed, responds', () => answers(world));
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
  const backlog = await backlogOf(world).catch(() => null);
  if (!backlog?.waiting) return;
  const { last } = backlog;
  await recordRecovery(world, 'bot mended, every event received', async () => !(await backlogOf(world, last)).waiting);
}

/** The events up to a `seq` that wait for the bot: how many, and the last one. */
export async function backlogOf({ rig }: World, upTo = Number.MAX_SAFE_INTEGER) {
  const sql = 'select max(seq) as last, count(*) as waiting from outbox where seq <= ? and parked_at is null';
  const { rows } = await rig.database.execute({ sql, args: [upTo] });
  return { last: Number(rows[0]!.last), waiting: Number(rows[0]!.waiting) };
}

async function recordRecovery(world: World, from: string, holds: () => Promise<boolean>): Promise<void> {
  const ms = await timeUntil(world, holds);
  if (ms !== null) world.figures.recovered(from, ms);
}

/** The time (ms) until a condition holds; null if it is too long. */
export async function timeUntil({ givenUp }: World, holds: () => Promise<boolean>): Promise<number | null> {
  const begun = performance.now();
  await sleep(stepMs);
  while (!(await holds().catch(() => false))) {
    if (givenUp.aborted || performance.now() - begun > patienceMs) return null;
    await sleep(stepMs);
  }
  return performance.now() - begun;
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
