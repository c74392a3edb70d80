/* `npm run test:weeks -- [--people=200] [--weeks=10] [--seed=N]`: simulated weeks of billing with faults. */
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { partText } from '../../bench/report.ts';
import { stopSignal } from '../../product/machine.ts';
import { Choices } from '../person.ts';
import { Figures, total } from '../records.ts';
import { complaintsOf } from '../report.ts';
import { startRig } from '../rig.ts';
import { Site } from '../site.ts';
import { Customer, type Simulation } from './customer.ts';
import { auditAll, type Income } from './ledger.ts';
import { passHalfWeek, settle } from './time.ts';
import { auditUpgrades, leastCents, upgradeAtEveryHour, upgradeTable } from './upgrades.ts';

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
  const figures = new Figures();
  const simulation: Simulation = {
    rig,
    site: new Site(rig.product.siteUrl, rig.botSecret, figures),
    counts: new Map(),
    seen: [],
  };
  const choices = new Choices(seed);
  const customers = Array.from({ length: people }, (_, index) => new Customer(index, choices.fork(), simulation));
  await rig.control('PUT', '/stripe/webhooks', { mode: 'hold' });
  for (const customer of customers) await customer.arrive();
  for (let half = 0; half < weeks * 2 && !stopped.aborted; half += 1) {
    await passHalfWeek(simulation, customers, choices);
    print(`week ${(half + 1) / 2}: ${Math.round((performance.now() - begun) / 1000)} s, ${total(figures.calls)} calls`);
  }
  await settle(simulation);
  const stories = await upgradeAtEveryHour(simulation, people, choices);
  print(`upgrades: ${Math.round((performance.now() - begun) / 1000)} s, ${total(figures.calls)} calls`);
  const audit = await auditAll(rig, customers, leastCents);
  const findings = [...audit.findings, ...(await auditUpgrades(stories))];
  const rows = [...simulation.counts].map(([what, times]): [string, number] => [what, times]);
  print(partText({ title: 'What happened', header: ['act or fault', 'times'], rows, targets: [] }));
  print(incomeText(audit.income));
  print(upgradeTable(stories));
  const verdicts = findings.map(({ what, checked, broken }): [string, number, number] => [
    what,
    checked,
    broken.length,
  ]);
  print(partText({ title: 'At the end', header: ['invariant', 'checked', 'broken'], rows: verdicts, targets: [] }));
  print([...complaintsOf(findings), ...simulation.seen].join('\n'));
  return findings.some(({ broken }) => broken.length > 0) || simulation.seen.length > 0;
}

function incomeText({ cents, messages, leastCents: least }: Income): string {
  const dollars = (amount: number, digits: number) => `$${(amount / 100).toFixed(digits)}`;
  return `${dollars(cents, 2)} received for ${messages} messages; the least that one cost a customer: ${dollars(least, 4)}\n`;
}
