import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { createClient, type Client } from '@libsql/client/web';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runMinuteCron } from '../product/cron-clock.ts';
import { freePort } from '../product/free-port.ts';
import { startProduct, type Product } from '../product/start-product.ts';

let folder: string;
let product: Product;
let vars: Record<string, string>;
let database: Client;
let auditFile: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'solace-support-'));
  const [port, sandboxPort] = [await freePort(0, 'PORT'), await freePort(0, 'SANDBOX_PORT')];
  auditFile = join(folder, 'audit.jsonl');
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

/** The token of a new session; clears the limits first, as a message to the assistant does. */
async function logIn(phone: string): Promise<string> {
  const handset = `${product.sandboxUrl}/phones/${phone}`;
  await call(`${handset}/messages`, 'POST', { text: 'Hi' });
  await call(`${product.siteUrl}/api/auth/request-otp`, 'POST', { phone });
  const messages = await call<{ code?: string }[]>(`${handset}/messages`);
  const otp = messages.findLast(({ code }) => code)!.code!;
  const { token } = await call(`${product.siteUrl}/api/auth/verify-otp`, 'POST', { phone, otp });
  return token;
}

/** A user who has written, signed in, had a trial, and bought a plan. */
async function newSubscriber(): Promise<string> {
  const phone = `+1555${randomInt(1_000_000, 9_999_999)}`;
  const handset = `${product.sandboxUrl}/phones/${phone}`;
  const token = await logIn(phone);
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

type Ran = { code: number; stdout: string; stderr: string };

/** Runs `npm run support -- …`'s program with the settings of the product. */
async function support(...args: string[]): Promise<Ran> {
  const env = { PATH: process.env['PATH'], ...vars, SUPPORT_AUDIT_FILE: auditFile };
  const command = ['worker/operations/support/command.ts', ...args];
  const ran = promisify(execFile)(process.execPath, ['--import', './.ci/require-node.js', ...command], { env });
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ran) => ({ code, stdout, stderr }),
  );
}

async function json(...args: string[]): Promise<Record<string, any>> {
  const { stdout } = await support(...args, '--json');
  return JSON.parse(stdout) as Record<string, any>;
}

const audit = () =>
  readFileSync(auditFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { command: string; about: string; outcome: string; env: string });

/** The tables that contain any of the words, in any column. */
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

it('lists every command when it is called without one, and refuses another', async () => {
  const { code, stdout } = await support();
  expect(code).toBe(0);
  for (const name of ['find', 'trial', 'sync', 'release', 'outbox', 'export', 'erase']) {
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  }
  expect(await support('delete', '+15551234567')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no command'),
  });
  expect(await support('find', '+15551234567', '--env', 'mars')).toMatchObject({ code: 2 });
  expect(await support('find', '+15551234567', '--loud')).toMatchObject({ code: 2 });
});

describe('find', () => {
  it('shows account, plan, week, limits, sessions, events and payments, as text and as JSON', async () => {
    const phone = await newSubscriber();
    const found = await json('find', phone);
    expect(found).toMatchObject({
      account: { phone, status: 'approved', platform: 'whatsapp' },
      plan: { tier: 'premium', subscription: 'basic', trial: { tier: 'premium' } },
      // The first paid week has just started.
      week: { used: 0, limit: expect.any(Number) },
      limits: { nextCodeAt: expect.stringMatching(/^\d{4}-/) },
      payments: { state: 'known', subscriptions: [{ status: 'active' }], returned: [] },
    });
    expect(found['sessions']).toHaveLength(2);
    expect(found['lastBotCalls'].length).toBeGreaterThan(0);
    expect(found['advice'].join()).toContain('Sign-in is limited');
    const { code, stdout } = await support('find', phone);
    expect(code).toBe(0);
    for (const part of [phone, 'Plan:', 'Week:', 'Limits:', 'Disputes and refunds:']) expect(stdout).toContain(part);
  });

  it('names a disputed payment', async () => {
    const phone = await newSubscriber();
    await call(`${product.sandboxUrl}/stripe/customers/${phone}/dispute`, 'POST');
    const found = await json('find', phone);
    expect(found['payments'].returned).toMatchObject([{ disputes: [expect.any(String)] }]);
    expect(found['advice'].join()).toContain('disputed');
  });

  it('shows what is kept here when Stripe does not respond', async () => {
    const phone = await newSubscriber();
    await call(`${product.sandboxUrl}/faults`, 'PUT', { stripe: { status: 500 } });
    const found = await json('find', phone);
    await call(`${product.sandboxUrl}/faults`, 'PUT', { stripe: null });
    expect(found).toMatchObject({ account: { phone }, payments: { state: 'Stripe does not respond' } });
  });

  it('never shows the conversation', async () => {
    const phone = await newSubscriber();
    const token = await logIn(phone);
    const text = `Something private ${randomInt(1_000_000)}`;
    await call(`${product.siteUrl}/api/user/chat/consent`, 'PUT', { version: '1' }, token);
    await call(`${product.sandboxUrl}/bot/mode`, 'PUT', { mode: 'refuse' });
    await call(`${product.siteUrl}/api/user/chat/messages`, 'POST', { id: crypto.randomUUID(), text }, token);
    await call(`${product.sandboxUrl}/bot/mode`, 'PUT', { mode: 'answer' });
    const told = [
      await support('find', phone),
      await support('find', phone, '--json'),
      await support('outbox', '--json'),
    ];
    expect(told[0]!.stdout).toMatch(/Chat:\s+consent 1/);
    expect(told.map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain(text);
  });

  it('says when nobody has the number, and asks for the country code', async () => {
    expect(await support('find', '+15550000000')).toMatchObject({ code: 1, stderr: 'Nobody has this number.\n' });
    expect(await support('find', '5551234567')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('country code'),
    });
  });
});

describe('commands that change something', () => {
  it('refuse without --yes if something is lost, say what they would do, and change nothing', async () => {
    const phone = await newSubscriber();
    const calls = [
      ['erase', phone],
      ['outbox', 'drop', 'all'],
    ];
    for (const args of calls) {
      expect(await support(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(/^This would .* --yes/) });
    }
    expect(await json('find', phone)).toMatchObject({ limits: expect.anything() });
  });

  it('leave two audit lines without the number', async () => {
    const phone = await newSubscriber();
    await support('release', phone, '--yes');
    const [started, done] = audit().slice(-2);
    expect(started).toMatchObject({
      env: 'local',
      command: 'release',
      about: expect.stringMatching(/^[\da-f]{8}$/),
      outcome: 'started',
    });
    expect(done).toMatchObject({ command: 'release', outcome: 'done' });
    expect(readFileSync(auditFile, 'utf8')).not.toContain(phone.slice(1));
  });
});

it('release lets a limited number have its next code at once', async () => {
  const phone = await newSubscriber();
  const ask = () => call(`${product.siteUrl}/api/auth/request-otp`, 'POST', { phone });
  expect(await ask()).toMatchObject({ code: 'rate_limited' });
  expect(await json('release', phone, '--yes')).toMatchObject({ cleared: expect.any(Number) });
  expect(await ask()).toMatchObject({ success: true });
});

describe('trial', () => {
  it('creates a link that works, and no second one after it was used', async () => {
    const phone = `+1555${randomInt(1_000_000, 9_999_999)}`;
    await call(`${product.sandboxUrl}/phones/${phone}/messages`, 'POST', { text: 'Hi' });
    const { url, days } = await json('trial', phone, '--tier', 'platinum', '--days', '5', '--yes');
    expect(days).toBe(5);
    const trialToken = new URL(url).searchParams.get('token');
    await call(`${product.siteUrl}/auth/verify-trial-token`, 'POST', { trialToken });
    expect(await json('find', phone)).toMatchObject({ plan: { tier: 'platinum', trial: { tier: 'platinum' } } });
    const again = await support('trial', phone, '--tier', 'basic', '--days', '5', '--yes');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already had its trial') });
  });

  it.each([
    ['--tier', 'gold'],
    ['--days', '31'],
    ['--days', 'three'],
  ])('refuses %s %s', async (...flags) => {
    expect(await support('trial', '+15551234567', ...flags, '--yes')).toMatchObject({ code: 2 });
  });
});

describe('sync', () => {
  it('fetches a subscription of which no event came', async () => {
    const phone = await newSubscriber();
    await database.execute({ sql: "update users set tier = 'free' where phone = ?", args: [phone] });
    expect((await json('find', phone))['advice'].join()).toContain('run `sync`');
    const syncing = json('sync', phone);
    const timer = setInterval(() => void runMinuteCron(product.siteUrl), 2000);
    expect(await syncing).toEqual({ fetched: true, tier: 'basic', subscriptionStatus: 'active' });
    clearInterval(timer);
  });

  it('says that there is nothing to fetch for somebody who was never sent to Stripe', async () => {
    const phone = `+1555${randomInt(1_000_000, 9_999_999)}`;
    await call(`${product.sandboxUrl}/phones/${phone}/messages`, 'POST', { text: 'Hi' });
    expect(await support('sync', phone)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('never sent to Stripe'),
    });
  });
});

describe('outbox', () => {
  const typesFor = async (phone: string) => {
    const events = await call<{ type: string; data: { phone: string } }[]>(`${product.sandboxUrl}/bot/events`);
    return events.filter(({ data }) => data.phone === phone).map(({ type }) => type);
  };

  /** A user whose platform event the bot refused, and the number of that event. */
  async function parkedEvent(): Promise<{ phone: string; seq: number }> {
    const phone = await newSubscriber();
    const token = await logIn(phone);
    await call(`${product.sandboxUrl}/faults`, 'PUT', { bot: { status: 422 } });
    await call(`${product.siteUrl}/api/user/platform`, 'PUT', { platform: 'web' }, token);
    const parked = async () =>
      (await json('find', phone))['eventsForTheBot'].find(
        ({ type, parkedAt }: Record<string, unknown>) => type === 'platform.changed' && parkedAt,
      );
    await expect.poll(parked, { timeout: 20_000 }).toBeTruthy();
    await call(`${product.sandboxUrl}/faults`, 'PUT', { bot: null });
    return { phone, seq: (await parked()).seq };
  }

  it('lists a parked event, and sends it again', async () => {
    const { phone, seq } = await parkedEvent();
    const listed = (await json('outbox')) as Record<string, any>[];
    expect(listed).toContainEqual(expect.objectContaining({ seq, type: 'platform.changed' }));
    expect(JSON.stringify(listed)).not.toContain(phone);
    expect(await json('outbox', 'retry', String(seq), '--yes')).toEqual({ retry: 1 });
    await runMinuteCron(product.siteUrl);
    await expect.poll(() => typesFor(phone), { timeout: 20_000 }).toContain('platform.changed');
  });

  it('removes a parked event, and knows no other number', async () => {
    const { phone, seq } = await parkedEvent();
    expect(await json('outbox', 'drop', String(seq), '--yes')).toEqual({ drop: 1 });
    await runMinuteCron(product.siteUrl);
    expect(await typesFor(phone)).not.toContain('platform.changed');
    expect(await support('outbox', 'drop', String(seq), '--yes')).toMatchObject({ code: 1 });
    expect(await support('outbox', 'burn', 'all', '--yes')).toMatchObject({ code: 2 });
  });
});

describe('export', () => {
  it('prints what every table and Stripe hold, without secrets and hashes', async () => {
    const phone = await newSubscriber();
    const { stdout } = await support('export', phone);
    const data = JSON.parse(stdout);
    expect(data.account).toMatchObject({ phone, tier: 'basic', trialTier: 'premium', used: 1 });
    expect(data.account.createdAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(data.stripe.subscriptions).toMatchObject([{ status: 'active' }]);
    expect(data.stripe.invoices).toHaveLength(1);
    expect(data.stripe.paymentMethods).toHaveLength(1);
    for (const list of ['sessions', 'code', 'limits', 'trialLinks', 'usedTrials', 'notes']) {
      expect(data[list], list).not.toHaveLength(0);
    }
    const exported = [
      'bot_calls',
      'codes',
      'customers',
      'outbox',
      'rate_limit_events',
      'sessions',
      'trial_links',
      'users',
    ];
    expect(exported).toEqual(expect.arrayContaining(await tablesWith(phone, data.account.id)));
    expect(stdout).not.toMatch(/"\w*mac"|wonBy|leaseToken": "/i);
  });
});

describe('erase', () => {
  it('changes nothing when Stripe cannot confirm that nothing charges again', async () => {
    const phone = await newSubscriber();
    const before = await database.execute('select count(*) as n from sessions');
    await call(`${product.sandboxUrl}/faults`, 'PUT', { stripe: { status: 500 } });
    expect(await support('erase', phone, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('answered 503'),
    });
    expect(audit().at(-1)).toMatchObject({ command: 'erase', outcome: 'failed' });
    await call(`${product.sandboxUrl}/faults`, 'PUT', { stripe: null });
    expect(await tablesWith(phone)).toContain('users');
    expect((await database.execute('select count(*) as n from sessions')).rows).toEqual(before.rows);
  });

  it('leaves no row that names the user, ends the billing and sends user.deleted', async () => {
    const phone = await newSubscriber();
    const { account, stripe } = JSON.parse((await support('export', phone)).stdout);
    const { stdout } = await support('erase', phone, '--yes');
    expect(stdout).toContain(`Erased the basic account of ${phone}`);
    await expect.poll(() => tablesWith(phone, phone.slice(1)), { timeout: 10_000 }).toEqual([]);
    // The stored responses to bot calls expire within a week; their user id no longer exists.
    expect(await tablesWith(account.id, stripe.kept.stripeId)).toEqual(['bot_calls']);
    const told = await call<{ type: string; data: { phone: string } }[]>(`${product.sandboxUrl}/bot/events`);
    expect(told.filter(({ data }) => data.phone === phone).at(-1)?.type).toBe('user.deleted');
    const held = await call(`${product.sandboxUrl}/stripe/customers/${phone}`);
    expect(held['subscriptions'] ?? []).toEqual(
      expect.not.arrayContaining([expect.objectContaining({ status: 'active' })]),
    );
  });
});
