import { randomBytes, randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { injectFaults } from './disturbances.ts';
import { Choices } from './person.ts';
import { Figures } from './records.ts';
import { reportOf, explain, settle } from './findings.ts';
import { type Rig, runWithRig, type World } from './rig.ts';
import { Site } from './site.ts';

const { values } = parseArgs({
  options: {
    /** How long the load lasts; the time to settle afterwards is bounded too. */
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    /** `--no-latencies` leaves out what only a quiet machine can measure. */
    latencies: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
const print = (text: string) => process.stdout.write(`${text}\n`);

print(`Faults on purpose for ${seconds} seconds with --seed=${seed}`);
await runWithRig('test:faults', rehearse);

async function rehearse(rig: Rig): Promise<boolean> {
  const [closing, givenUp] = [new AbortController(), new AbortController()];
  const figures = new Figures();
  const world: World = {
    rig,
    site: new Site(rig.product.siteUrl, rig.botSecret, figures),
    figures,
    people: [],
    seen: [],
    marker: `marker${randomBytes(12).toString('hex')}`,
    closing: closing.signal,
    givenUp: givenUp.signal,
  };
  const begun = performance.now();
  await injectFaults(world, new Choices(seed), seconds, () => closing.abort());
  givenUp.abort();
  const findings = await settle(world, values.latencies);
  const settleSeconds = (performance.now() - begun) / 1000 - seconds;
  print(
    await reportOf(world, {
      seed,
      loadSeconds: seconds,
      settleSeconds,
      findings,
    }),
  );
  for (const { tabs } of world.people) for (const tab of tabs) tab.close();
  const failed = findings.filter(({ broken }) => broken.length > 0).length;
  if (failed > 0)
    print(explain(world, findings, `.wrangler/broken-invariants/${seed}-${process.pid}`));
  print(`\n${findings.length - failed} passed, ${failed} failed`);
  return failed === 0;
}
