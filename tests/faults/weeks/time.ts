import { runMinuteCron } from '../../product/start-product.ts';
import type { Choices } from '../person.ts';
import { add } from '../records.ts';
import { type Customer, type Simulation, act } from './customer.ts';

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
export async function passHalfWeek(simulation: Simulation, customers: Customer[], choices: Choices): Promise<void> {
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
  add(simulation.counts, `half week: ${fault}`);
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
