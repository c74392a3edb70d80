import { randomBytes, randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stopSignal } from '../product/machine.ts';
import { Choices } from './person.ts';
import { Figures, Latencies, Timeline } from './records.ts';
import { complaintsOf, reportOf } from './report.ts';
import { startRig, type Rig, type World } from './rig.ts';
import { Site } from './site.ts';
import { injectFaults } from './disturbances.ts';
import { explain, settle } from './settle.ts';

const { values } = parseArgs({
  options: {
    /** How long the load lasts; the time to settle afterwards is bounded too. */
    seconds: { type: 'string', default: '600' },
    /** Repeats the choices of another run. */
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    /** `--no-latencies` leaves out what only a quiet machine can measure. */
    latencies: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const [seconds, seed] = [numberOf('seconds', 10, 3600), numberOf('seed', 0, 2 ** 32 - 1)];
const print = (text: string) => process.stdout.write(`${text}\n`);

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const stopped = stopSignal('test:faults');

print(`Faults on purpose for ${seconds} seconds with --seed=${seed}`);
const holds = await run().catch((error: unknown) => {
  print(error instanceof Error ? error.message : String(error));
  return false;
});
process.exit(holds ? 0 : 1);

/** True if every invariant holds; rejects with the reason of an early end. */
async function run(): Promise<boolean> {
  const rig = await startRig(stopped);
  try {
    return await Promise.race([rehearse(rig), interruption(), rig.product.ended.then(fail)]);
  } finally {
    await rig.close();
  }
}

async function rehearse(rig: Rig): Promise<boolean> {
  const [closing, givenUp] = [new AbortController(), new AbortController()];
  const figures = new Figures();
  const latencies = new Latencies();
  const timeline = new Timeline();
  const site = new Site(rig.product.siteUrl, rig.botSecret, figures, { latencies, timeline });
  const signals = { closing: closing.signal, givenUp: givenUp.signal };
  const world: World = {
    rig,
    site,
    figures,
    latencies,
    timeline,
    people: [],
    seen: [],
    botOutage: null,
    marker: `marker${randomBytes(12).toString('hex')}`,
    ...signals,
  };
  const begun = performance.now();
  await injectFaults(world, new Choices(seed), seconds, () => closing.abort());
  givenUp.abort();
  const findings = await settle(world, values.latencies);
  const settleSeconds = (performance.now() - begun) / 1000 - seconds;
  print(await reportOf(world, { seed, loadSeconds: seconds, settleSeconds, findings }));
  for (const { chats, followers } of world.people) for (const tab of [...chats, ...followers]) tab.stream.close();
  const complaints = complaintsOf(findings);
  const failed = findings.filter(({ broken }) => broken.length > 0).length;
  if (failed > 0) complaints.push(explain(world, findings, `.wrangler/broken-invariants/${seed}-${process.pid}`));
  print(['', ...complaints, `${findings.length - failed} passed, ${failed} failed`].join('\n'));
  return failed === 0;
}

function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    stopped.addEventListener('abort', () => reject(new Error('Stopped.')), { once: true });
  });
}

function fail(reason: string): never {
  throw new Error(reason);
}

function numberOf(name: 'seconds' | 'seed', least: number, most: number): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`--${name} is a whole number from ${least} to ${most}, not "${values[name]}".`);
}
