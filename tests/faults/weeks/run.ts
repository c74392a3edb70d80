/* `npm run test:weeks -- [--people=200] [--weeks=10] [--seed=N]`: simulated weeks of billing with faults. */
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { partText } from '../../bench/report.ts';
import { stopSignal } from '../../product/machine.ts';
import { Choices } from '../person.ts';
import { CallFigures, total } from '../records.ts';
import { findingsText } from '../report.ts';
import { startRig } from '../rig.ts';
import { Site } from '../site.ts';
import { Customer, type Simulation } from './customer.ts';
import { auditAll } from './ledger.ts';
import { passHalfWeek, settle } from './time.ts';
import { auditUpgrades, dollars, leastCents, upgradeAtEveryHour, upgradeTable } from './upgrades.ts';

const number = (fallback: number) => ({ type: 'string' as const, default: String(fallback) });
const { values } = parseArgs({ options: { people: number(200), weeks: number(10), seed: number(randomInt(2 ** 31)) } });
const [people, weeks, seed] = [Number(values.people), Number(values.weeks), Number(values.seed)];
const print = (text: string) => process.stdout.write(`${text}\n`);

process.chdir(fileURLToPath(new URL('../../..', import.meta.url)));
const stopped = stopSignal('test:weeks');

print(`${weeks} weeks of ${people} customers with --seed=${seed}`);
const rig = await startRig(stopped);
let failed = true;
try {
  failed = await simulate();
} finally {
  await rig.close();
}
process.exit(failed ? 1 : 0);

async function simulate(): Promise<boolean> {
  const begun = performance.now();
  const figures = new CallFigures();
  const progress = (what: string) =>
    print(`${what}: ${Math.round((performance.now() - begun) / 1000)} s, ${total(figures.calls)} calls`);
  const site = new Site(rig.product.siteUrl, rig.botSecret, figures);
  const simulation: Simulation = { rig, site, counts: new Map() };
  const choices = new Choices(seed);
  const customers = Array.from({ length: people }, (_, index) => new Customer(index, choices.fork(), simulation));
  await rig.control('PUT', '/stripe/webhooks', { mode: 'hold' });
  for (const customer of customers) await customer.arrive();
  for (let half = 0; half < weeks * 2 && !stopped.aborted; half += 1) {
    await passHalfWeek(simulation, customers, choices);
    progress(`week ${(half + 1) / 2}`);
  }
  await settle(simulation);
  const stories = await upgradeAtEveryHour(simulation, people, choices);
  progress('upgrades');
  const { findings, income } = await auditAll(rig, customers, leastCents);
  findings.push(...(await auditUpgrades(stories)));
  print(partText({ title: 'What happened', header: ['act or fault', 'times'], rows: [...simulation.counts] }));
  print(
    `${dollars(income.cents)} received for ${income.messages} messages; the least that one cost a customer: ${dollars(income.leastCents, 4)}`,
  );
  print(upgradeTable(stories));
  print(findingsText(findings));
  return findings.some(({ broken }) => broken.length > 0);
}
