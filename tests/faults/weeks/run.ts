import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { partText } from '../../bench/report.ts';
import { onOrphaned } from '../../product/machine.ts';
import { Choices } from '../choices.ts';
import { Figures, total } from '../records.ts';
import { complaintsOf } from '../report.ts';
import { startRig } from '../rig.ts';
import { Site } from '../site.ts';
import { Customer, type Simulation, act } from './customer.ts';
import { auditAll } from './ledger.ts';
import { runMinuteCron } from '../../product/cron-clock.ts';

/* `npm run test:weeks -- [--people=200] [--weeks=10] [--seed=N]`: simulated weeks of billing with faults. */

const number = (fallback: number) => ({ type: 'string' as const, default: String(fallback) });
const { values } = parseArgs({ options: { people: number(200), weeks: number(10), seed: number(randomInt(2 ** 31)) } });
const [people, weeks, seed] = [Number(values.people), Number(values.weeks), Number(values.seed)];
const print = (text: string) => process.stdout.write(`${text}\n`);

process.chdir(fileURLToPath(new URL('../../..', import.meta.url)));
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.abort());
if (process.env.npm_lifecycle_event === 'test:weeks') onOrphaned(() => stopped.abort());

print(`${weeks} weeks of ${people} customers with --seed=${seed}`);
const rig = await startRig(stopped.signal);
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
  for (let half = 0; half < weeks * 2 && !stopped.signal.aborted; half += 1) {
    await passHalfWeek(simulation, customers, choices);
    print(`week ${(half + 1) / 2}: ${Math.round((performance.now() - begun) / 1000)} s, ${total(figures.calls)} calls`);
  }
  await settle(simulation);
  const findings = await auditAll(rig, customers);
  const rows = [...simulation.counts].map(([what, times]): [string, number] => [what, times]);
  print(partText({ title: 'What happened', header: ['act or fault', 'times'], rows, targets: [] }));
  const verdicts = findings.map(({ what, checked, broken }): [string, number, number] => [
    what,
    checked,
    broken.length,
  ]);
  print(partText({ title: 'At the end', header: ['invariant', 'checked', 'broken'], rows: verdicts, targets: [] }));
  print([...complaintsOf(findings), ...simulation.seen].join('\n'));
  return findings.some(({ broken }) => broken.length > 0) || simulation.seen.length > 0;
}

const halfWeekSeconds = 84 * 3600;
const atOnce = 6;

type Fault = 'none' | 'stored 500' | 'lost response' | 'unknown customer' | 'silent' | 'database';

/** A share of the requests in half a week meets a fault, which then ends. */
const faults: Record<Fault, object | null> = {
  none: null,
  'stored 500': { stripe: { status: 500, remember: true } },
  'lost response': { stripe: { cut: true } },
  'unknown customer': { stripe: { unknownCustomer: true } },
  silent: { stripe: { drop: true } },
  database: { libsql: { cut: true } },
};

/** Every customer acts, some during a fault; time passes; events arrive late, repeated, reversed or never. */
async function passHalfWeek(simulation: Simulation, customers: Customer[], choices: Choices): Promise<void> {
  const { rig } = simulation;
  const present = customers.filter(({ left }) => !left);
  const fault = choices.weighted<Fault>({
    none: 4,
    'stored 500': 3,
    'lost response': 2,
    'unknown customer': 1,
    silent: 1,
    database: 1,
  });
  const unlucky = present.filter(() => choices.chance(0.15));
  const others = present.filter((customer) => !unlucky.includes(customer));
  simulation.counts.set(`half week: ${fault}`, (simulation.counts.get(`half week: ${fault}`) ?? 0) + 1);
  await each(others, (customer) => act(rig, customer));
  if (faults[fault]) await rig.control('PUT', '/faults', faults[fault]);
  await each(unlucky, (customer) => act(rig, customer));
  await rig.control('PUT', '/faults', { stripe: null, libsql: null });
  await rig.control('POST', '/stripe/clock', { advanceSeconds: halfWeekSeconds });
  const delivered = present.filter(({ left }) => !left && choices.chance(0.25));
  for (const { phone } of delivered) {
    const order = choices.pick(['original', 'reversed']);
    await rig.control('POST', '/stripe/webhooks/redeliver', { order, phone });
  }
  await passHour(simulation);
}

/** Advances the Worker's clock by an hour: its cron job fetches every live customer. */
async function passHour({ rig }: Simulation): Promise<void> {
  await rig.database.execute('update customers set due_at = 0 where due_at is not null');
  await runMinuteCron(rig.product.siteUrl);
}

/** Hours without faults, until every customer was fetched. */
export async function settle(simulation: Simulation): Promise<void> {
  for (let hour = 0; hour < 6; hour += 1) await passHour(simulation);
}

async function each(customers: Customer[], work: (customer: Customer) => Promise<void>): Promise<void> {
  const queue = [...customers];
  const loop = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}
