import { spawnSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Stripe } from 'stripe';
import { afterAll, expect, test } from 'vitest';

const command = 'tests/sandbox/stripe/stripe-local.ts';
const folder = mkdtempSync(join(tmpdir(), 'local-stripe-seed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the command until its line is printed, works with the stock SDK, and ends it. */
async function withStripe<T>(words: string[], work: (stripe: Stripe) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, [command, '--port', '0', ...words]);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { port } = new URL(/http:\S+(?=,)/.exec(line)![0]);
  const stripe = new Stripe('sk_test_local', {
    host: 'localhost',
    port,
    protocol: 'http',
  });
  try {
    return await work(stripe);
  } finally {
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  }
}

test('starts alone with what a seed file says, and makes nothing twice', async () => {
  const words = [
    '--file',
    join(folder, 'stripe.db'),
    '--seed',
    'tests/sandbox/stripe/seed.example.json',
  ];
  const seen = async (stripe: Stripe) => ({
    prices: (await stripe.prices.list({ lookup_keys: ['basic_weekly'] })).data.map(({ id }) => id),
    customers: (await stripe.customers.list()).data.map(({ id }) => id),
  });
  const first = await withStripe(words, seen);
  expect(first).toEqual({
    prices: [expect.any(String)],
    customers: [expect.any(String)],
  });
  expect(await withStripe(words, seen)).toEqual(first);
});

test('names the request of a seed that is refused', () => {
  const seed = join(folder, 'wrong.json');
  writeFileSync(seed, JSON.stringify([{ post: 'customers', body: { colour: 'red' } }]));
  const { status, stderr } = spawnSync(process.execPath, [command, '--port', '0', '--seed', seed], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([
    1,
    `Request 1 of ${seed}, customers: Received unknown parameter: colour\n`,
  ]);
});
