import { execFile } from 'node:child_process';
import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { lineOf } from '../../../worker/operations/doctor/finding.ts';
import { runChecks } from '../../../worker/operations/doctor/run-checks.ts';
import type { Values } from '../../../worker/operations/target.ts';
import { startTestServices } from '../test-services.ts';
import { addressOf, insertUserWithKey, openStripe, runSql, serve } from './fixtures.ts';

let services: Awaited<ReturnType<typeof startTestServices>>;
let vars: Record<string, string>;
/** Responds without CORS headers. */
let plain: Server;

beforeAll(async () => {
  services = await startTestServices();
  vars = services.vars;
  plain = await serve((_, response) => response.writeHead(500).end('{}'));
});
afterAll(async () => {
  plain.close();
  await services.close();
});

const diagnose = (values: Values) => runChecks(values, { target: 'local' });

describe('the settings of the owner', () => {
  const linesAbout = async (about: string, more: Values, target: 'local' | 'production' = 'local') =>
    (await runChecks({ ...vars, ...more }, { target })).filter((finding) => finding.about === about).map(lineOf);

  it('warns loudly that messages of the contact form go nowhere', async () => {
    expect(await linesAbout('CONTACT_URL', {})).toEqual([expect.stringMatching(/^! CONTACT_URL: .*GO NOWHERE/)]);
  });

  it.each([
    ['contact form', /malformed/],
    ['http://127.0.0.1:1', /does not answer/],
    ['SITE', /CORS/],
  ])('names CONTACT_URL when it is %s', async (value, said) => {
    const [line] = await linesAbout('CONTACT_URL', { CONTACT_URL: value.replace('SITE', addressOf(plain)) });
    expect(line).toMatch(/^✗/);
    expect(line).toMatch(said);
  });

  it('accepts an address that allows the site', async () => {
    const form = await serve((_, response) => response.writeHead(204, { 'access-control-allow-origin': '*' }).end());
    const CONTACT_URL = addressOf(form);
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
  const run = (sql: string) => runSql(services, sql);
  afterEach(async () => {
    for (const table of ['outbox', 'bot_calls', 'users']) await run(`delete from ${table}`);
  });

  it('is warned about when events are parked', async () => {
    await run(`insert into outbox (phone, body, due_at, parked_at) values ('+15551234567', '{}', 0, 1)`);
    expect((await warnings()).join()).toMatch(/! Parked events: the bot refused 1 events.*support -- outbox/);
  });

  it('is wrong when conversations are encrypted with a key that CHAT_KEYS lacks', async () => {
    await insertUserWithKey(services, 'lostkey');
    expect((await warnings()).join()).toMatch(/✗ CHAT_KEYS: lacks lostkey/);
  });

  it('is warned about when the bot counts messages without reporting contacts', async () => {
    await insertUserWithKey(services, vars['CHAT_KEYS']!.split(':')[0]!);
    await run(`insert into bot_calls (id, fingerprint, by, at, answer)
      values ('c1', '', '', ${Date.now()}, '{"userId":"u1","allowed":1}')`);
    expect((await warnings()).join()).toMatch(/! The bot: .*1 people.*api\/bot\/contacts/);
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
  const stripe = () => openStripe(services);
  const complaints = async () => (await diagnose(vars)).filter(({ ok }) => !ok).map(lineOf);

  it('is read and not written', async () => {
    const before = (await stripe().events.list({ limit: 100 })).data.length;
    await diagnose({ ...vars, SITE_URL: 'http://localhost:2' });
    expect((await stripe().events.list({ limit: 100 })).data.length).toBe(before);
    expect((await stripe().webhookEndpoints.list()).data[0]!.url).toContain('localhost:9/');
  });

  it('is found wanting where somebody changed it by hand, and in order again after the setup', async () => {
    const [price] = (await stripe().prices.list({ lookup_keys: ['basic_weekly'] })).data;
    const [portal] = (await stripe().billingPortal.configurations.list()).data;
    const [webhook] = (await stripe().webhookEndpoints.list()).data;
    await stripe().prices.update(price!.id, { active: false });
    await stripe().billingPortal.configurations.update(portal!.id, {
      features: {
        invoice_history: { enabled: false },
        // As the set-up of earlier versions left it.
        subscription_update: { billing_cycle_anchor: 'unchanged' },
      },
    });
    await stripe().webhookEndpoints.update(webhook!.id, { enabled_events: ['invoice.paid'] });
    const told = (await complaints()).join('\n');
    for (const part of ['price basic_weekly', 'portal configuration', 'webhook endpoint']) expect(told).toContain(part);
    expect(told).toContain(
      'Customer portal: lets people change to a dearer plan without paying a whole week of it. Run `npm run stripe:setup`.',
    );
    await stripe().prices.update(price!.id, { active: true });
    const command = ['worker/operations/stripe-setup/stripe-setup.ts'];
    await promisify(execFile)(process.execPath, command, { env: { ...process.env, ...vars } });
    expect(await complaints()).toEqual([]);
  });
});

it('names the migrations that a database lacks, and lets them wait before a deployment', async () => {
  const empty = await startTestServices({ isSetUp: false });
  const { TURSO_DATABASE_URL, TURSO_AUTH_TOKEN } = empty.vars;
  const values = { ...vars, TURSO_DATABASE_URL, TURSO_AUTH_TOKEN };
  const lacking = (await diagnose(values)).filter(({ ok }) => !ok).map(lineOf);
  expect(lacking).toEqual([expect.stringContaining('0000_accounts')]);
  const waiting = await runChecks(values, { target: 'local', mayBeBehind: true });
  await empty.close();
  expect(waiting.every(({ ok }) => ok)).toBe(true);
});
