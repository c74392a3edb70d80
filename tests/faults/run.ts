import { randomBytes, randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stopSignal } from '../product/machine.ts';
import { injectFaults } from './disturbances.ts';
import { Choices } from './person.ts';
import { Figures } from './records.ts';
import { reportOf } from './report.ts';
import { startRig, type Rig, type World } from './rig.ts';
import { explain, settle } from './settle.ts';
import { Site } from './site.ts';

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
  const interruption = new Promise<string>((resolve) => stopped.addEventListener('abort', () => resolve('Stopped.')));
  const earlyEnd = Promise.race([interruption, rig.product.ended]).then((reason) => {
    throw new Error(reason);
  });
  try {
    return await Promise.race([rehearse(rig), earlyEnd]);
  } finally {
    await rig.close();
  }
}

async function rehearse(rig: Rig): Promise<boolean> {
  const [closing, givenUp] = [new AbortController(), new AbortController()];
  const figures = new Figures();
  const world: World = {
    rig,
    site: new Site(rig.product.siteUrl, rig.botSecret, figures),
    figures,
    people: [],
    seen: [],
    botOutage: null,
    marker: `marker${randomBytes(12).toString('hex')}`,
    closing: closing.signal,
    givenUp: givenUp.signal,
  };
  const begun = performance.now();
  await injectFaults(world, new Choices(seed), seconds, () => closing.abort());
  givenUp.abort();
  const findings = await settle(world, values.latencies);
  const settleSeconds = (performance.now() - begun) / 1000 - seconds;
  print(await reportOf(world, { seed, loadSeconds: seconds, settleSeconds, findings }));
  for (const { tabs } of world.people) for (const tab of tabs) tab.close();
  const failed = findings.filter(({ broken }) => broken.length > 0).length;
  if (failed > 0) print(explain(world, findings, `.wrangler/broken-invariants/${seed}-${process.pid}`));
  print(`\n${findings.length - failed} passed, ${failed} failed`);
  return failed === 0;
}

function numberOf(name: 'seconds' | 'seed', least: number, most: number): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`--${name} is a whole number from ${least} to ${most}, not "${values[name]}".`);
}
