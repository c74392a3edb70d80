import { isNotNull } from 'drizzle-orm';
import { customers as stripeCustomers } from '#db/schema';
import { inParallel } from '../../bench/report.ts';
import { runMinuteCron } from '../../product/start-product.ts';
import type { Choices } from '../person.ts';
import { add } from '../records.ts';
import { type Customer, type Simulation, act } from './customer.ts';

const halfWeekSeconds = 84 * 3600;
const atOnce = 6;

/** The faults that a share of the requests in half a week meets, and how often each is chosen. */
const faults = {
  none: {},
  'stored 500': { stripe: { status: 500, remember: true } },
  'lost response': { stripe: { cut: true } },
  'unknown customer': { stripe: { unknownCustomer: true } },
  silent: { stripe: { drop: true } },
  database: { libsql: { cut: true } },
};
const shares = { none: 4, 'stored 500': 3, 'lost response': 2, 'unknown customer': 1, silent: 1, database: 1 };

/** Every customer acts, some during a fault; time passes; events arrive late, repeated, reversed or never. */
export async function passHalfWeek(simulation: Simulation, customers: Customer[], choices: Choices): Promise<void> {
  const { rig, counts } = simulation;
  const present = customers.filter(({ left }) => !left);
  const fault = choices.weighted<keyof typeof faults>(shares);
  const { unlucky = [], lucky = [] } = Object.groupBy(present, () => (choices.chance(0.15) ? 'unlucky' : 'lucky'));
  add(counts, `half week: ${fault}`);
  await inParallel(atOnce, lucky, (customer) => act(simulation, customer));
  await rig.control('PUT', '/faults', faults[fault]);
  await inParallel(atOnce, unlucky, (customer) => act(simulation, customer));
  await rig.control('PUT', '/faults', { stripe: null, libsql: null });
  await rig.control('POST', '/stripe/clock', { advanceSeconds: halfWeekSeconds });
  for (const { phone } of present.filter(({ left }) => !left && choices.chance(0.25))) {
    const order = choices.pick(['original', 'reversed']);
    await rig.control('POST', '/stripe/webhooks/redeliver', { order, phone });
  }
  await passHour(simulation);
}

/** Advances the Worker's clock by an hour: its cron job fetches every live customer. */
async function passHour({ rig }: Simulation): Promise<void> {
  await rig.database.update(stripeCustomers).set({ dueAt: 0 }).where(isNotNull(stripeCustomers.dueAt));
  await runMinuteCron(rig.product.siteUrl);
}

/** Hours without faults, until every customer was fetched. */
export async function settle(simulation: Simulation): Promise<void> {
  for (let hour = 0; hour < 6; hour += 1) await passHour(simulation);
}
