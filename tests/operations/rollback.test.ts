import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomInt } from 'node:crypto';
import { createClient, type Client } from '@libsql/client/web';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, waitUntilReady } from '../product/machine.ts';
import { runMinuteCron, startProduct, type Product } from '../product/start-product.ts';
import { refreshVars } from '../product/vars.ts';
import { until } from '../api/support/clock.ts';

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

/** Each isolate prepares its statements once: the Worker starts on the schema that it finds. */
async function restart(): Promise<void> {
  await product.restartWorker();
  await waitUntilReady([`${product.siteUrl}/api/health`], product.ended);
}

/** The next version's migration, with everything that the rule of migrations.test.ts allows, on every table. */
async function migrateFurther(): Promise<number> {
  const { rows } = await database.execute(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '\\_\\_%' escape '\\'",
  );
  for (const { name } of rows as unknown as { name: string }[]) {
    await database.execute(`alter table ${name} add later_text text`);
    await database.execute(`alter table ${name} add later_number integer default 7 not null`);
    await database.execute(`create index ${name}_later on ${name} (later_text)`);
  }
  await database.execute('create table later (id text primary key not null, user_id text)');
  return rows.length;
}

/** One after the other: a person of the version before, then the schema of the next one under the same Worker. */
describe('after a rollback, a version meets the schema of the next one', { shuffle: false }, () => {
  let before: Session;

  it('works before it, on its own schema', async () => {
    before = await signIn('+15557654321');
    await useEverything(before);
    expect(before.troubles).toEqual([]);
  });

  it('keeps sessions, plans and conversations, and serves new people', async () => {
    expect(await migrateFurther()).toBeGreaterThan(10);
    await restart();
    const { profile } = await before.call('GET', '/api/user/me');
    expect(profile.metadata).toMatchObject({ subscriptionTier: 'premium', subscriptionStatus: 'active' });
    const after = await signIn('+15557654322');
    await useEverything(after);
    await before.call('DELETE', '/api/user/me');
    expect([...before.troubles, ...after.troubles]).toEqual([]);
  });

  it('would fail on a column that is gone: such a migration waits until no version uses it', async () => {
    await database.execute('alter table users rename column tier to plan');
    await restart();
    const session = await signIn('+15557654323');
    await useEverything(session);
    expect(session.troubles).toContainEqual(expect.stringMatching(/^POST .*create-subscription-update-session: 500/));
  });
});

type Session = ReturnType<typeof openSession>;

/** Calls of one person; `troubles` are those that did not work, as `what: status body`. */
function openSession(token = '') {
  const troubles: string[] = [];
  /** `path` is one of the site, or an address of the local services. */
  async function call(method: string, path: string, body?: object): Promise<Record<string, any>> {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const url = new URL(path, product.siteUrl);
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    const found = text.startsWith('{') ? (JSON.parse(text) as Record<string, any>) : { text };
    if (response.status === 200 && found.success !== false) return found;
    troubles.push(`${method} ${path}: ${response.status} ${text}`);
    return {};
  }
  return { call, troubles };
}

const onPhone = (phone: string) => `${product.sandboxUrl}/phones/${encodeURIComponent(phone)}`;

/** Signs a number in by a code, as a person does: writes first, then reads the code on the phone. */
async function signIn(phone: string): Promise<Session> {
  const { call } = openSession();
  await call('POST', `${onPhone(phone)}/messages`, { text: 'Hello' });
  await call('POST', '/api/auth/request-otp', { phone });
  const messages = (await (await fetch(`${onPhone(phone)}/messages`)).json()) as { code?: string }[];
  const otp = messages.findLast(({ code }) => code)?.code;
  return openSession((await call('POST', '/api/auth/verify-otp', { phone, otp })).token);
}

/** Uses each feature that writes rows. */
async function useEverything({ call, troubles }: Session): Promise<void> {
  await call('GET', '/api/user/me');
  await call('PUT', '/api/user/platform', { platform: 'web' });
  await call('PUT', '/api/user/chat/consent', { version: '1' });
  const sent = await call('POST', '/api/user/chat/messages', { id: crypto.randomUUID(), text: 'How are you?' });
  await call('GET', '/api/user/sessions');
  await call('POST', '/api/user/stream-ticket');
  await call('GET', '/api/user/export');

  const { portalUrl } = await call('POST', '/api/billing/create-subscription-update-session', { tier: 'premium' });
  if (portalUrl) {
    const page = await fetch(portalUrl, { method: 'POST', body: new URLSearchParams(), redirect: 'manual' });
    const sessionId = new URL(page.headers.get('location')!).searchParams.get('session_id');
    const bought = await call('POST', '/api/billing/verify-and-update-checkout-session', { sessionId });
    if (bought.newTier !== 'premium') troubles.push(`the plan: ${JSON.stringify(bought)}`);
  }

  const invited = onPhone(`+1555${randomInt(1_000_000, 9_999_999)}`);
  await call('POST', `${invited}/messages`, { text: 'Hi' });
  const { url = '' } = await call('POST', `${invited}/trial`, { days: 3 });
  await call('POST', '/auth/verify-trial-token', { trialToken: url.split('token=')[1] });

  await runMinuteCron(product.siteUrl);
  if (!sent.success) return;
  const messages = async () => (await call('GET', '/api/user/chat')).messages as { author: string }[] | undefined;
  await until('a reply in the chat', messages, (all) => all?.some(({ author }) => author === 'solace'));
}
