import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { createClient, type Client } from '@libsql/client/web';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../sandbox/free-port.ts';
import { startProduct, type Product } from '../sandbox/product.ts';

let folder: string;
let product: Product;
let vars: Record<string, string>;
let database: Client;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'solace-user-'));
  const [port, sandboxPort] = [await freePort(0, 'PORT'), await freePort(0, 'SANDBOX_PORT')];
  const varsFile = join(folder, 'vars');
  product = await startProduct({ port, sandboxPort, stateDir: folder, varsFile, build: false });
  vars = parseEnv(readFileSync(varsFile, 'utf8')) as Record<string, string>;
  database = createClient({ url: vars['TURSO_DATABASE_URL']!, authToken: vars['TURSO_AUTH_TOKEN']! });
}, 120_000);
afterAll(async () => {
  database.close();
  await product.close();
  rmSync(folder, { recursive: true, force: true });
});

async function call<T = Record<string, any>>(url: string, method = 'GET', body?: object, token = ''): Promise<T> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return response.json() as Promise<T>;
}

/** Somebody who has written, signed in, had a trial, and bought a plan. */
async function newSubscriber(): Promise<string> {
  const phone = `+1555${randomInt(1_000_000, 9_999_999)}`;
  const handset = `${product.sandboxUrl}/phones/${phone}`;
  await call(`${handset}/messages`, 'POST', { text: 'Hi' });
  await call(`${product.siteUrl}/api/auth/request-otp`, 'POST', { phone });
  const messages = await call<{ code?: string }[]>(`${handset}/messages`);
  const otp = messages.findLast(({ code }) => code)!.code!;
  const { token } = await call(`${product.siteUrl}/api/auth/verify-otp`, 'POST', { phone, otp });
  const buying = `${product.siteUrl}/api/billing/create-subscription-update-session`;
  const { portalUrl } = await call(buying, 'POST', { tier: 'basic' }, token);
  const paid = await fetch(portalUrl, { method: 'POST', body: new URLSearchParams(), redirect: 'manual' });
  const sessionId = new URL(paid.headers.get('location')!).searchParams.get('session_id');
  await call(`${product.siteUrl}/api/billing/verify-and-update-checkout-session`, 'POST', { sessionId }, token);
  const { url } = await call(`${handset}/trial`, 'POST', { tier: 'premium', days: 3 });
  const trialToken = new URL(url).searchParams.get('token');
  await call(`${product.siteUrl}/auth/verify-trial-token`, 'POST', { trialToken });
  return phone;
}

function run(command: string, ...args: string[]) {
  const env = { PATH: process.env['PATH'], ...vars };
  return promisify(execFile)(process.execPath, [`worker/operations/${command}.ts`, ...args], { env });
}

/** The tables in which any of the words stands, in any column. */
async function tablesWith(...words: string[]): Promise<string[]> {
  const { rows } = await database.execute(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite%'",
  );
  const found: string[] = [];
  for (const name of rows.map((row) => row['name'] as string)) {
    const held = JSON.stringify((await database.execute(`select * from "${name}"`)).rows);
    if (words.some((word) => held.includes(word))) found.push(name);
  }
  return found.toSorted();
}

describe('the export of a user', () => {
  it('holds what every table and Stripe know, and nothing that opens a door', async () => {
    const phone = await newSubscriber();
    const { stdout } = await run('export-user', phone);
    const data = JSON.parse(stdout);
    expect(data.account).toMatchObject({ phone, tier: 'basic', trialTier: 'premium', used: 1 });
    expect(data.account.createdAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(data.stripe.subscriptions).toMatchObject([{ status: 'active' }]);
    expect(data.stripe.invoices).toHaveLength(1);
    expect(data.stripe.paymentMethods).toHaveLength(1);
    for (const list of ['sessions', 'code', 'limits', 'trialLinks', 'spentTrials', 'botCalls']) {
      expect(data[list], list).not.toHaveLength(0);
    }
    const exported = ['bot_calls', 'codes', 'customers', 'hits', 'outbox', 'sessions', 'trial_links', 'users'];
    expect(exported).toEqual(expect.arrayContaining(await tablesWith(phone, data.account.id)));
    expect(stdout).not.toMatch(/"\w*mac"|wonBy|leaseToken": "/i);
  });

  it('takes the number in any spelling, and says when nobody has it', async () => {
    await expect(run('export-user', '+15550000000')).rejects.toMatchObject({
      code: 1,
      stderr: 'Nobody has this number.\n',
    });
    await expect(run('export-user', '5551234567')).rejects.toMatchObject({
      stderr: expect.stringContaining('country code'),
    });
  });
});

describe('the erasure of a user', () => {
  it('asks to be sure', async () => {
    const phone = await newSubscriber();
    await expect(run('erase-user', phone)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
    expect(await tablesWith(phone)).toContain('users');
  });

  it('changes nothing while Stripe cannot promise that nothing charges again', async () => {
    const phone = await newSubscriber();
    const before = await database.execute('select count(*) as n from sessions');
    await call(`${product.sandboxUrl}/faults`, 'PUT', { stripe: { status: 500 } });
    await expect(run('erase-user', phone, '--yes')).rejects.toMatchObject({
      stderr: expect.stringContaining('answered 503'),
    });
    await call(`${product.sandboxUrl}/faults`, 'PUT', { stripe: null });
    expect(await tablesWith(phone)).toContain('users');
    expect((await database.execute('select count(*) as n from sessions')).rows).toEqual(before.rows);
  });

  it('leaves no row that names the user, ends the billing and tells the bot', async () => {
    const phone = await newSubscriber();
    const { account, stripe } = JSON.parse((await run('export-user', phone)).stdout);
    const { stdout } = await run('erase-user', phone, '--yes');
    expect(stdout).toContain(`Erased the basic account of ${phone}`);
    await expect.poll(() => tablesWith(phone, phone.slice(1)), { timeout: 10_000 }).toEqual([]);
    // The answers to the bot's calls go within a week; the id in them leads nowhere any more.
    expect(await tablesWith(account.id, stripe.kept.stripeId)).toEqual(['bot_calls']);
    const told = await call<{ type: string; data: { phone: string } }[]>(`${product.sandboxUrl}/bot/events`);
    expect(told.filter(({ data }) => data.phone === phone).at(-1)?.type).toBe('user.deleted');
    const held = await call(`${product.sandboxUrl}/stripe/customers/${phone}`);
    expect(held['subscriptions'] ?? []).toEqual(
      expect.not.arrayContaining([expect.objectContaining({ status: 'active' })]),
    );
  });
});
