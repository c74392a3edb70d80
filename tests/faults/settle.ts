import { setTimeout as sleep } from 'node:timers/promises';
import { runMinuteCron } from '../product/cron-clock.ts';
import { resendFailed } from './chat/write-message.ts';
import { Figures } from './figures.ts';
import { signedIn } from './invariants/accounts.ts';
import type { Finding } from './invariants/finding.ts';
import { invariants, timed } from './invariants/index.ts';
import { Site } from './site.ts';
import type { World } from './world.ts';

const patienceMs = 600_000;
const stepMs = 2000;

/** Runs the cron jobs until every invariant holds or the time is over; returns the last findings. */
export async function settle(world: World, latencies = true): Promise<Finding[]> {
  // The requests of the invariants are not part of the load.
  const { rig, timeline } = world;
  const { product, botSecret } = rig;
  const examined = { ...world, site: new Site(product.siteUrl, botSecret, new Figures()) };
  const repaired = { ...world, site: new Site(product.siteUrl, botSecret, new Figures(), { timeline }) };
  const deadline = performance.now() + patienceMs;
  for (;;) {
    await runMinuteCron(product.siteUrl);
    for (const person of signedIn(world)) if (person.conversation.consented) await resendFailed(repaired, person);
    const findings = await checkAll(examined, latencies);
    if (findings.every(({ broken }) => broken.length === 0) || performance.now() > deadline) return findings;
    await sleep(stepMs);
  }
}

async function checkAll(world: World, latencies: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const invariant of [...invariants, ...(latencies ? timed : [])]) findings.push(await invariant(world));
  return findings;
}
