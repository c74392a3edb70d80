import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@libsql/client/web';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, waitUntilReady } from '../product/machine.ts';
import { startProduct, type Product } from '../product/start-product.ts';
import { refreshVars } from '../product/vars.ts';
import { randomInt } from 'node:crypto';
import { until } from '../api/support/clock.ts';
import { runMinuteCron } from '../product/start-product.ts';

const phone = '+15557654321';

let stateDir: string;
let product: Product;
let database: Client;
beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'solace-rollback-'));
  const varsFile = join(stateDir, 'vars');
  const [port, sandboxPort] = [await freePort(0, 'PORT'), await freePort(0, 'SANDBOX_PORT')];
  product = await startProduct({ port, sandboxPort, stateDir, varsFile, build: false });
  const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = refreshVars(varsFile, {});
  database = createClient({ url, authToken });
});
afterAll(async () => {
  database.close();
  await product.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function tables(): Promise<string[]> {
  const { rows } = await database.execute(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '\\_\\_%' escape '\\'",
  );
  return rows.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

/** Each isolate prepares its statements once: the Worker starts on the schema that it finds. */
async function restart(): Promise<void> {
  await product.restartWorker();
  await waitUntilReady([`${product.siteUrl}/api/health`], product.ended);
}

/** The next version's migration, with everything that the rule of migrations.test.ts allows, on every table. */
async function migrateFurther(): Promise<number> {
  const names = await tables();
  for (const name of names) {
    await database.execute(`alter table ${name} add later_text text`);
    await database.execute(`alter table ${name} add later_number integer default 7 not null`);
    await database.execute(`create index ${name}_later on ${name} (later_text)`);
  }
  await database.execute('create table later (id text primary key not null, user_id text)');
  return names.length;
}

/** One after the other: a person of the version before, then the schema of the next one under the same Worker. */
describe('after a rollback, a version meets the schema of the next one', { shuffle: false }, () => {
  let token: string;

  it('works before it, on its own schema', async () => {
    const used = await useEverything(product, phone);
    token = used.token;
    expect(used.troubles).toEqual([]);
  });

  it('keeps sessions, plans and conversations, and serves new people', async () => {
    expect(await migrateFurther()).toBeGreaterThan(10);
    await restart();
    const { status, body } = await profileOf(product, token);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { profile: { metadata: { subscriptionTier: 'premium', subscriptionStatus: 'active' } } },
    });
    expect((await useEverything(product, '+15557654322')).troubles).toEqual([]);
    expect(await leave(product, token)).toEqual([]);
  });

  it('would fail on a column that is gone: such a migration waits until no version uses it', async () => {
    await database.execute('alter table users rename column tier to plan');
    await restart();
    const { troubles } = await useEverything(product, '+15557654323');
    expect(troubles).toContainEqual(expect.stringMatching(/^POST .*create-subscription-update-session: 500/));
  });
});

type Site = { siteUrl: string; sandboxUrl: string };
type Body = Record<string, unknown>;
type Answer = { status: number; body: Body };

/** What did not work, as `what: status body`. */
type Trouble = string;

async function send(method: string, url: string, { token, body }: { token?: string; body?: object } = {}) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : { text }) as Body };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** Signs a number in by a code, as a person does: writes first, then reads the code on the phone. */
async function signIn({ siteUrl, sandboxUrl }: Site, phone: string): Promise<string> {
  const onPhone = `${sandboxUrl}/phones/${encodeURIComponent(phone)}/messages`;
  await send('POST', onPhone, { body: { text: 'Hello' } });
  await send('POST', `${siteUrl}/api/auth/request-otp`, { body: { phone } });
  const messages = (await (await fetch(onPhone)).json()) as { code?: string }[];
  const otp = messages.findLast(({ code }) => code)?.code ?? '000000';
  const { body } = await send('POST', `${siteUrl}/api/auth/verify-otp`, { body: { phone, otp } });
  return textOf(body['token']);
}

/** Uses each feature that writes rows, and returns what did not work. */
async function useEverything(site: Site, phone: string): Promise<{ token: string; troubles: Trouble[] }> {
  const { siteUrl } = site;
  const token = await signIn(site, phone);
  const troubles: Trouble[] = [];
  const note = (what: string, { status, body }: Answer) => {
    if (status !== 200 || body['success'] === false) troubles.push(`${what}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const call = async (method: string, path: string, body?: object) =>
    note(`${method} ${path}`, await send(method, `${siteUrl}${path}`, { token, ...(body && { body }) }));

  await call('GET', '/api/user/me');
  await call('PUT', '/api/user/platform', { platform: 'web' });
  await call('PUT', '/api/user/chat/consent', { version: '1' });
  const sent = await call('POST', '/api/user/chat/messages', { id: crypto.randomUUID(), text: 'How are you?' });
  await call('GET', '/api/user/sessions');
  await call('POST', '/api/user/stream-ticket');
  await call('GET', '/api/user/export');
  await buy(call, troubles);
  await trial(site, note);
  await runMinuteCron(siteUrl);
  if (sent['success'] !== false) await awaitReply(call, troubles);
  return { token, troubles };
}

type Call = (method: string, path: string, body?: object) => Promise<Body>;

async function buy(call: Call, troubles: Trouble[]): Promise<void> {
  const { portalUrl } = await call('POST', '/api/billing/create-subscription-update-session', { tier: 'premium' });
  if (typeof portalUrl !== 'string') return;
  const page = await fetch(portalUrl, { method: 'POST', body: new URLSearchParams(), redirect: 'manual' });
  const sessionId = new URL(page.headers.get('location') ?? 'http://x').searchParams.get('session_id') ?? '';
  const result = await call('POST', '/api/billing/verify-and-update-checkout-session', { sessionId });
  if (result['newTier'] !== 'premium') troubles.push(`the plan: ${JSON.stringify(result)}`);
}

async function trial({ siteUrl, sandboxUrl }: Site, note: (what: string, answer: Answer) => Body): Promise<void> {
  const phone = encodeURIComponent(`+1555${randomInt(1_000_000, 9_999_999)}`);
  await send('POST', `${sandboxUrl}/phones/${phone}/messages`, { body: { text: 'Hi' } });
  const link = note('trial', await send('POST', `${sandboxUrl}/phones/${phone}/trial`, { body: { days: 3 } }));
  const trialToken = textOf(link['url']).split('token=')[1] ?? '';
  note('the trial link', await send('POST', `${siteUrl}/auth/verify-trial-token`, { body: { trialToken } }));
}

async function awaitReply(call: Call, troubles: Trouble[]): Promise<void> {
  const authors = async () => {
    const { messages = [] } = (await call('GET', '/api/user/chat')) as { messages?: { author: string }[] };
    return messages.map(({ author }) => author);
  };
  const hasReply = (found: string[]) => found.includes('solace');
  await until('a reply in the chat', authors, hasReply).catch((error: Error) => troubles.push(error.message));
}

/** Deletes the account; what did not work, or nothing. */
async function leave({ siteUrl }: Site, token: string): Promise<Trouble[]> {
  const { status, body } = await send('DELETE', `${siteUrl}/api/user/me`, { token });
  return status === 200 ? [] : [`DELETE /api/user/me: ${status} ${JSON.stringify(body)}`];
}

async function profileOf({ siteUrl }: Site, token: string): Promise<Answer> {
  return send('GET', `${siteUrl}/api/user/me`, { token });
}
