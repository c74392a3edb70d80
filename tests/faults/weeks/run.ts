/* `npm run test:weeks -- [--people=200] [--weeks=10] [--seed=N]`: simulated weeks of billing with faults. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { isNotNull, like } from 'drizzle-orm';
import { customers as stripeCustomers, rateLimitEvents } from '#db/schema';
import { inParallel, partText } from '../../bench/measurement.ts';
import { runHourlyCron, runMinuteCron } from '../../product/start-product.ts';
import { Choices } from '../person.ts';
import { add, CallFigures, total } from '../records.ts';
import { findingsText } from '../findings.ts';
import { type Rig, runWithRig } from '../rig.ts';
import { Site } from '../site.ts';
import { act, Customer, type Simulation } from './customer.ts';
import { audit } from './ledger.ts';
import { auditUpgrades, leastCents, upgradeAtEveryHour, upgradeTable } from './upgrades.ts';

const number = (fallback: number) => ({
  type: 'string' as const,
  default: String(fallback),
});
const { values } = parseArgs({
  options: {
    people: number(200),
    weeks: number(10),
    seed: number(randomInt(2 ** 31)),
  },
});
const [people, weeks, seed] = [Number(values.people), Number(values.weeks), Number(values.seed)];
const print = (text: string) => process.stdout.write(`${text}\n`);

const halfWeekSeconds = 84 * 3600;
const atOnce = 6;

const faults = {
  none: {},
  'stored 500': { stripe: { status: 500, remember: true } },
  'lost response': { stripe: { cut: true } },
  'unknown customer': { stripe: { unknownCustomer: true } },
  silent: { stripe: { drop: true } },
  database: { libsql: { cut: true } },
};
const shares = {
  none: 4,
  'stored 500': 3,
  'lost response': 2,
  'unknown customer': 1,
  silent: 1,
  database: 1,
};

print(`${weeks} weeks of ${people} customers with --seed=${seed}`);
await runWithRig('test:weeks', simulate);

async function simulate(rig: Rig): Promise<boolean> {
  const begun = performance.now();
  const figures = new CallFigures();
  const progress = (what: string) =>
    print(
      `${what}: ${Math.round((performance.now() - begun) / 1000)} s, ${total(figures.calls)} calls`,
    );
  const site = new Site(rig.product.siteUrl, rig.botSecret, figures);
  const simulation: Simulation = { rig, site, counts: new Map() };
  const choices = new Choices(seed);
  const customers = Array.from(
    { length: people },
    (_, index) => new Customer(index, choices.fork(), simulation),
  );
  await rig.control('PUT', '/stripe/webhooks', { mode: 'hold' });
  for (const customer of customers) await customer.arrive();
  for (let half = 0; half < weeks * 2; half += 1) {
    await passHalfWeek(simulation, customers, choices);
    progress(`week ${(half + 1) / 2}`);
  }
  // Without faults, until every customer was fetched.
  for (let hour = 0; hour < 6; hour += 1) await passHour(simulation);
  // Closes the customers that Stripe did not know when their people left.
  await runHourlyCron(rig.product.siteUrl);
  const stories = await upgradeAtEveryHour(simulation, people, choices);
  progress('upgrades');
  const findings = [
    ...(await audit(rig, customers, leastCents)),
    ...(await auditUpgrades(stories)),
  ];
  print(
    partText({
      title: 'What happened',
      header: ['act or fault', 'times'],
      rows: [...simulation.counts],
    }),
  );
  print(upgradeTable(stories));
  print(findingsText(findings));
  return findings.every(({ broken }) => broken.length === 0);
}

/** Every customer acts, some during a fault; time passes; events arrive late, repeated, reversed or never. */
async function passHalfWeek(
  simulation: Simulation,
  customers: Customer[],
  choices: Choices,
): Promise<void> {
  const { rig, counts } = simulation;
  const present = customers.filter(({ left }) => !left);
  const fault = choices.weighted<keyof typeof faults>(shares);
  const { unlucky = [], lucky = [] } = Object.groupBy(present, () =>
    choices.chance(0.15) ? 'unlucky' : 'lucky',
  );
  add(counts, `half week: ${fault}`);
  await inParallel(atOnce, lucky, (customer) => act(simulation, customer));
  await rig.control('PUT', '/faults', faults[fault]);
  await inParallel(atOnce, unlucky, (customer) => act(simulation, customer));
  await rig.control('PUT', '/faults', { stripe: null, libsql: null });
  await rig.control('POST', '/stripe/clock', { advanceSeconds: halfWeekSeconds });
  for (const { phone } of present.filter(({ left }) => !left && choices.chance(0.25))) {
    const order = choices.pick(['original', 'reversed']);
    await rig.control('POST', '/stripe/webhooks/redeliver', {
      order,
      phone,
    });
  }
  await passHour(simulation);
}

/** What an hour changes at the Worker: no plan page counts any more, and the cron job fetches every live customer. */
async function passHour({ rig }: Simulation): Promise<void> {
  await rig.database
    .delete(rateLimitEvents)
    .where(like(rateLimitEvents.subject, 'billing-pages:%'));
  await rig.database
    .update(stripeCustomers)
    .set({ dueAt: 0 })
    .where(isNotNull(stripeCustomers.dueAt));
  await runMinuteCron(rig.product.siteUrl);
}
