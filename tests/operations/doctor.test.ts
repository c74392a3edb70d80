import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createClient } from '@libsql/client/web';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SettingName } from '../../worker/operations/doctor/checks/settings.ts';
import { runChecks } from '../../worker/operations/doctor/run-checks.ts';
import { lineOf, type Finding } from '../../worker/operations/doctor/finding.ts';
import type { Values } from '../../worker/operations/target.ts';
import { startTestServices } from './test-services.ts';

let services: Awaited<ReturnType<typeof startTestServices>>;
let vars: Record<string, string>;
/** Responds 500 to everything. */
let broken: Server;
let brokenUrl: string;

beforeAll(async () => {
  services = await startTestServices();
  vars = services.vars;
  broken = createServer((_, response) => response.writeHead(500).end('{}')).listen(0, '127.0.0.1');
  await new Promise((resolve) => broken.once('listening', resolve));
  brokenUrl = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
});
afterAll(async () => {
  broken.close();
  await services.close();
});

const silent = 'http://127.0.0.1:1';
const other = 'Zm9yZ290dGVuLXNlY3JldC1vZi1zb21lYm9keS1lbHNlLWFsdG9nZXRoZXI';

/** For each setting, values that are wrong in one way each; undefined stands for none at all. */
const breakages: Record<SettingName, (string | undefined)[]> = {
  SITE_URL: [undefined, 'solace', 'http://localhost:2', 'http://localhost:9/app'],
  WEB_ORIGINS: ['solace.example', 'https://solace.example/'],
  APPROVAL: ['sometimes'],
  TURSO_DATABASE_URL: [undefined, 'database', silent, 'http://127.0.0.1:PORT'],
  ACCOUNT_RETENTION_DAYS: ['two years', '30'],
  TURSO_AUTH_TOKEN: [undefined, other],
  SESSION_KEYS: [undefined, 'k:short', 'no-name', `k:${'a'.repeat(43)}`],
  CODE_PEPPER: [undefined, 'pepper', `${other} short`],
  CHAT_KEYS: [undefined, 'k:short', 'no-name', `k:${'a'.repeat(43)}`],
  CHAT_RETENTION_DAYS: ['0', 'ninety'],
  CHAT_MESSAGES_PER_MINUTE: ['0'],
  CHAT_MESSAGES_WAITING: ['-1'],
  WHATSAPP_API_BASE: ['graph', silent, 'http://127.0.0.1:PORT'],
  WHATSAPP_API_VERSION: ['25'],
  WHATSAPP_PHONE_NUMBER_ID: [undefined, '42'],
  WHATSAPP_TOKEN: [undefined, other],
  WHATSAPP_TEMPLATE_NAME: [undefined, 'another'],
  WHATSAPP_TEMPLATE_LANGUAGE: ['de'],
  WHATSAPP_APP_SECRET: [],
  WHATSAPP_VERIFY_TOKEN: [],
  BOT_WEBHOOK_URL: [undefined, 'bot', silent, 'http://127.0.0.1:PORT', 'WRONG_PATH'],
  BOT_WEBHOOK_SECRET: [undefined, 'whsec_c2hvcnQ=', `whsec_${other}`],
  STRIPE_API_BASE: ['stripe', silent, 'http://127.0.0.1:PORT'],
  STRIPE_SECRET_KEY: [undefined, 'pk_test_public', `sk_test_${other}`, `sk_live_${other}`],
  STRIPE_WEBHOOK_SECRET: [undefined, 'whsec_short', other],
  ON_DISPUTE: ['refund'],
  AUTOMATIC_TAX: ['yes'],
  EXTERNAL_TOKEN_ISSUER: [undefined],
  EXTERNAL_TOKEN_AUDIENCE: [undefined],
  EXTERNAL_TOKEN_JWKS_URL: [undefined, 'keys', silent, 'http://127.0.0.1:PORT', 'WRONG_PATH'],
  CODE_LIFETIME_SECONDS: ['five minutes'],
  CODE_TRIES: ['-1', '0'],
  LIMIT_CODES_PER_NUMBER: ['5 an hour'],
  LIMIT_WRONG_TRIES_PER_NUMBER: ['20/2d'],
  LIMIT_CODES_PER_ADDRESS: ['0x5/1h'],
  LIMIT_CODE_REQUESTS_PER_ADDRESS: ['60/1w'],
  LIMIT_TRIES_PER_ADDRESS: ['/5m', '0/5m'],
  LIMIT_CODES_PER_NETWORK: ['many', '100/0h'],
  LIMIT_CODE_REQUESTS_PER_NETWORK: ['300'],
  LIMIT_TRIES_PER_NETWORK: ['1/2d'],
  LIMIT_CALLS_PER_USER: ['240', '0/1m'],
  CODE_BUDGET_PER_DAY: ['all', '0'],
};
/** A local run has neither a contact form nor readers of help lines; its Stripe has a new account's payment methods. */
const warnedLocally = ['CONTACT_URL', 'HELP_LINES_READ_ON', 'Help lines', 'Payment methods'];
const cases = Object.entries(breakages).flatMap(([name, values]) => values.map((value) => [name, value] as const));

const placed = (value: string | undefined) =>
  value === 'WRONG_PATH' ? `${services.url}/nothing` : value?.replace('http://127.0.0.1:PORT', brokenUrl);
const diagnose = (values: Values) => runChecks(values, { target: 'local' });

it('finds nothing wrong with the local services', async () => {
  expect((await diagnose(vars)).filter(({ ok }) => !ok)).toEqual([]);
});

it.each(cases)('names %s when it is %s, and no other setting, and prints no secret', async (name, value) => {
  const values = { ...vars, [name]: placed(value) };
  const findings = await diagnose(values);
  const isNamed = (finding: Finding) => !finding.ok || (finding.warning && !warnedLocally.includes(finding.about));
  expect(new Set(findings.filter(isNamed).map(({ about }) => about))).toEqual(new Set([name]));
  const told = findings.map(lineOf).join('\n');
  for (const secret of [...secretsOf(vars), ...secretsOf(values)]) expect(told).not.toContain(secret);
});

function secretsOf(values: Values): string[] {
  const names = Object.keys(values).filter((name) => /SECRET|TOKEN$|KEYS|PEPPER/.test(name));
  return names.flatMap((name) => values[name]?.split(/[\s:]+/) ?? []).filter((part) => part.length > 8);
}

it('names a secret that serves twice', async () => {
  const findings = await diagnose({ ...vars, CODE_PEPPER: vars['WHATSAPP_TOKEN'] });
  expect(
    findings
      .filter(({ ok }) => !ok)
      .map(lineOf)
      .join(),
  ).toMatch(/✗ WHATSAPP_TOKEN: is the same as CODE_PEPPER/);
});

describe('the settings of the owner', () => {
  const linesAbout = async (about: string, more: Values, target: 'local' | 'production' = 'local') =>
    (await runChecks({ ...vars, ...more }, { target })).filter((finding) => finding.about === about).map(lineOf);

  it('warns loudly that messages of the contact form go nowhere', async () => {
    expect(await linesAbout('CONTACT_URL', {})).toEqual([expect.stringMatching(/^! CONTACT_URL: .*GO NOWHERE/)]);
  });

  it.each([
    ['contact form', /malformed/],
    ['http://127.0.0.1:1', /does not answer/],
    ['http://127.0.0.1:PORT', /CORS/],
  ])('names CONTACT_URL when it is %s', async (value, said) => {
    const [line] = await linesAbout('CONTACT_URL', { CONTACT_URL: placed(value) });
    expect(line).toMatch(/^✗/);
    expect(line).toMatch(said);
  });

  it('accepts an address that allows the site', async () => {
    const form = createServer((_, response) => response.writeHead(204, { 'access-control-allow-origin': '*' }).end());
    await new Promise<void>((resolve) => form.listen(0, '127.0.0.1', resolve));
    const CONTACT_URL = `http://127.0.0.1:${(form.address() as AddressInfo).port}/`;
    expect(await linesAbout('CONTACT_URL', { CONTACT_URL })).toEqual([]);
    expect(await linesAbout('CONTACT_URL', { CONTACT_URL }, 'production')).toEqual([expect.stringMatching(/https/)]);
    form.close();
  });

  it('asks who read the help lines, until a recent date stands there', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const name = 'HELP_LINES_READ_ON';
    expect(await linesAbout(name, {})).toEqual([expect.stringMatching(/^! .*nobody/)]);
    expect(await linesAbout(name, { [name]: daysAgo(200) })).toEqual([expect.stringMatching(/^! .*120 days/)]);
    expect(await linesAbout(name, { [name]: 'last week' })).toEqual([expect.stringMatching(/^✗/)]);
    expect(await linesAbout(name, { [name]: daysAgo(1) })).toEqual([]);
  });
});

describe('what the database holds', () => {
  const warnings = async () => (await diagnose(vars)).map(lineOf).filter((line) => !line.startsWith('✓'));
  const run = async (sql: string) => {
    const { TURSO_DATABASE_URL: url, TURSO_AUTH_TOKEN: authToken } = vars;
    const client = createClient({ url: url!, authToken: authToken! });
    await client.execute(sql);
    client.close();
  };

  it('is warned about when events are parked', async () => {
    await run(`insert into outbox (phone, body, due_at, parked_at) values ('+15551234567', '{}', 0, 1)`);
    expect((await warnings()).join()).toMatch(/! Parked events: the bot refused 1 events.*support -- outbox/);
    await run('delete from outbox');
  });

  it('is wrong when conversations are encrypted with a key that CHAT_KEYS lacks', async () => {
    await run(`insert into users (id, phone, status, created_at, week_anchor, week_start, chat_key, chat_key_id)
      values ('u1', '+15551234567', 'approved', 0, 0, 0, 'k', 'lostkey')`);
    expect((await warnings()).join()).toMatch(/✗ CHAT_KEYS: lacks lostkey/);
  });

  it('is warned about when the bot counts messages without reporting contacts', async () => {
    await run(`insert into bot_calls (id, fingerprint, by, at, answer)
      values ('c1', '', '', ${Date.now()}, '{"userId":"u1","allowed":1}')`);
    expect((await warnings()).join()).toMatch(/! The bot: .*1 people.*api\/bot\/contacts/);
    await run('delete from bot_calls');
    await run('delete from users');
  });
});

describe('outside this machine', () => {
  it('asks for https, the live mode in production, and the address that the pages give', async () => {
    const wrong = (await runChecks(vars, { target: 'production' })).filter(({ ok }) => !ok).map(({ about }) => about);
    expect(wrong).toEqual(
      expect.arrayContaining(['SITE_URL', 'TURSO_DATABASE_URL', 'BOT_WEBHOOK_URL', 'STRIPE_API_BASE']),
    );
  });
});

describe('the account at Stripe', () => {
  const stripe = () => {
    const { hostname, port } = new URL(services.url);
    return new Stripe(vars['STRIPE_SECRET_KEY']!, { host: hostname, port, protocol: 'http', telemetry: false });
  };
  const complaints = async () => (await diagnose(vars)).filter(({ ok }) => !ok).map(lineOf);

  it('is read and not written', async () => {
    const before = (await stripe().events.list({ limit: 100 })).data.length;
    await diagnose({ ...vars, SITE_URL: 'http://localhost:2' });
    expect((await stripe().events.list({ limit: 100 })).data.length).toBe(before);
    expect((await stripe().webhookEndpoints.list()).data[0]!.url).toContain('localhost:9/');
  });

  it('is found wanting where somebody changed a price, the portal or the webhook by hand', async () => {
    const [price] = (await stripe().prices.list({ lookup_keys: ['basic_weekly'] })).data;
    const [portal] = (await stripe().billingPortal.configurations.list()).data;
    const [webhook] = (await stripe().webhookEndpoints.list()).data;
    await stripe().prices.update(price!.id, { active: false });
    await stripe().billingPortal.configurations.update(portal!.id, {
      features: { invoice_history: { enabled: false } },
    });
    await stripe().webhookEndpoints.update(webhook!.id, { enabled_events: ['invoice.paid'] });
    const told = (await complaints()).join('\n');
    for (const part of ['price basic_weekly', 'portal configuration', 'webhook endpoint']) expect(told).toContain(part);
    await stripe().prices.update(price!.id, { active: true });
  });

  it('is in order again after the setup that the doctor asks for', async () => {
    const command = ['worker/operations/stripe-setup/command.ts'];
    await promisify(execFile)(process.execPath, command, { env: { ...process.env, ...vars } });
    expect(await complaints()).toEqual([]);
  });
});

it('names the migrations that a database lacks, and lets them wait before a deployment', async () => {
  const empty = await startTestServices({ migrated: false });
  const lacking = (await runChecks(empty.vars, { target: 'local' })).filter(({ ok }) => !ok).map(lineOf);
  expect(lacking).toEqual([expect.stringContaining('0000_accounts')]);
  const waiting = await runChecks(empty.vars, { target: 'local', mayBeBehind: true });
  await empty.close();
  expect(waiting.every(({ ok }) => ok)).toBe(true);
});

it('ends with 1 when something is wrong, and with 0 when all is well', async () => {
  const run = (values: Record<string, string>) =>
    promisify(execFile)(process.execPath, ['worker/operations/doctor/command.ts'], {
      env: { PATH: process.env['PATH'], ...values },
    });
  expect((await run(vars)).stdout).toMatch(/Every check passed\. Warnings: \d\.\n$/);
  await expect(run({ ...vars, WHATSAPP_PHONE_NUMBER_ID: '42' })).rejects.toMatchObject({ code: 1 });
});
