import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SettingName } from '../../worker/operations/checks/settings.ts';
import { examine } from '../../worker/operations/examine.ts';
import { lineOf } from '../../worker/operations/finding.ts';
import type { Values } from '../../worker/operations/target.ts';
import { tryServices } from './try-services.ts';

let services: Awaited<ReturnType<typeof tryServices>>;
let vars: Record<string, string>;
/** Answers 500 to everything. */
let broken: Server;
let brokenUrl: string;

beforeAll(async () => {
  services = await tryServices();
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
  TURSO_AUTH_TOKEN: [undefined, other],
  SESSION_KEYS: [undefined, 'k:short', 'no-name', `k:${'a'.repeat(43)}`],
  CODE_PEPPER: [undefined, 'pepper', `${other} short`],
  WHATSAPP_API_BASE: [undefined, 'graph', silent, 'http://127.0.0.1:PORT'],
  WHATSAPP_PHONE_NUMBER_ID: [undefined, '42'],
  WHATSAPP_TOKEN: [undefined, other],
  WHATSAPP_TEMPLATE_NAME: [undefined, 'another'],
  WHATSAPP_TEMPLATE_LANGUAGE: ['de'],
  BOT_WEBHOOK_URL: [undefined, 'bot', silent, 'http://127.0.0.1:PORT', 'WRONG_PATH'],
  BOT_WEBHOOK_SECRET: [undefined, 'whsec_c2hvcnQ=', `whsec_${other}`],
  STRIPE_API_BASE: ['stripe', silent, 'http://127.0.0.1:PORT'],
  STRIPE_SECRET_KEY: [undefined, 'pk_test_public', `sk_test_${other}`, `sk_live_${other}`],
  STRIPE_WEBHOOK_SECRET: [undefined, 'whsec_short', other],
  EXTERNAL_TOKEN_ISSUER: [undefined],
  EXTERNAL_TOKEN_AUDIENCE: [undefined],
  EXTERNAL_TOKEN_JWKS_URL: [undefined, 'keys', silent, 'http://127.0.0.1:PORT', 'WRONG_PATH'],
  CODE_LIFETIME_SECONDS: ['five minutes'],
  CODE_TRIES: ['-1'],
  LIMIT_CODES_PER_NUMBER: ['5 an hour'],
  LIMIT_WRONG_TRIES_PER_NUMBER: ['20/2d'],
  LIMIT_CODES_PER_ADDRESS: ['0x5/1h'],
  LIMIT_CODE_REQUESTS_PER_ADDRESS: ['60/1w'],
  LIMIT_TRIES_PER_ADDRESS: ['/5m'],
};
const cases = Object.entries(breakages).flatMap(([name, values]) => values.map((value) => [name, value] as const));

const placed = (value: string | undefined) =>
  value === 'WRONG_PATH' ? `${services.url}/nothing` : value?.replace('http://127.0.0.1:PORT', brokenUrl);
const diagnose = (values: Values) => examine(values, { target: 'local' });

it('finds nothing wrong with the local services', async () => {
  expect((await diagnose(vars)).filter(({ ok }) => !ok)).toEqual([]);
});

it.each(cases)('names %s when it is %s, and no other setting, and tells no secret', async (name, value) => {
  const values = { ...vars, [name]: placed(value) };
  const findings = await diagnose(values);
  const named = findings.filter(({ ok }) => !ok).map(({ about }) => about);
  expect(new Set(named)).toEqual(new Set([name]));
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

describe('outside this machine', () => {
  it('asks for https, the live mode in production, and the address that the pages give', async () => {
    const wrong = (await examine(vars, { target: 'production' })).filter(({ ok }) => !ok).map(({ about }) => about);
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
    const command = ['worker/billing/setup-command.ts'];
    await promisify(execFile)(process.execPath, command, { env: { ...process.env, ...vars } });
    expect(await complaints()).toEqual([]);
  });
});

it('names the migrations that a database lacks, and lets them wait before a deployment', async () => {
  const empty = await tryServices({ migrated: false });
  const lacking = (await examine(empty.vars, { target: 'local' })).filter(({ ok }) => !ok).map(lineOf);
  expect(lacking).toEqual([expect.stringContaining('0000_accounts')]);
  const waiting = await examine(empty.vars, { target: 'local', mayBeBehind: true });
  await empty.close();
  expect(waiting.every(({ ok }) => ok)).toBe(true);
});

it('ends with 1 when something is wrong, and with 0 when all is well', async () => {
  const run = (values: Record<string, string>) =>
    promisify(execFile)(process.execPath, ['worker/operations/doctor.ts'], {
      env: { PATH: process.env['PATH'], ...values },
    });
  expect((await run(vars)).stdout).toMatch(/All is well\.\n$/);
  await expect(run({ ...vars, WHATSAPP_PHONE_NUMBER_ID: '42' })).rejects.toMatchObject({ code: 1 });
});
