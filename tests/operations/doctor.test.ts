import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, it, describe, onTestFinished } from 'vitest';
import {
  runChecks,
  checkSchema,
  prematureRemoval,
} from '../../worker/operations/doctor/run-checks.ts';
import { lineOf, type Finding } from '../../worker/operations/doctor/doctor-finding.ts';
import type { Values, Target } from '../../worker/operations/owner-command.ts';
import { freshKeyPair } from '../product/vars.ts';
import { startTestServices } from '../product/start-product.ts';
import { ownEnvironment, serve } from './test-product.ts';
import { Stripe } from 'stripe';
import { checkStripeAccount } from '../../worker/operations/doctor/stripe-checks.ts';
import type { SettingName } from '../../worker/setting-rules.ts';
import { settingsOf } from '../../worker/settings.ts';
import { callJson } from '../product/machine.ts';

const services = await startTestServices();
const withoutTables = await startTestServices({ isSetUp: false });
const broken = await serve((_, response) => response.writeHead(500).end('{}'));
/** A bot that verifies nothing, and a form that allows no browser. */
const careless = await serve((_, response) => response.writeHead(204).end());
const issuer = await serve((_, response) => response.end('{"keys":[]}'));
/** Leads to a bot in order, in a way that keeps method, body and headers. */
const moved = await serve((_, response) =>
  response.writeHead(308, { location: vars.BOT_WEBHOOK_URL }).end(),
);
afterAll(() =>
  Promise.all(
    [services, withoutTables, broken, careless, issuer, moved].map((each) => each.close()),
  ),
);

const { vars, url, database } = services;
const silent = 'http://127.0.0.1:1';
const wrongPath = `${url}/nothing`;
const other = 'Zm9yZ290dGVuLXNlY3JldC1vZi1zb21lYm9keS1lbHNlLWFsdG9nZXRoZXI';

const unpaired = `${freshKeyPair().split(':')[0]}:${other.slice(0, 43)}`;

const twoOfOneName = `k:${other} k:${other.slice(1)}`;

/** For each setting, values that are wrong in one way each; undefined stands for none at all. */
const breakages: Record<SettingName, (string | undefined)[]> = {
  SITE_URL: [undefined, 'solace', 'http://localhost:2', 'http://localhost:9/app'],
  WEB_ORIGINS: ['solace.example', 'https://solace.example/'],
  APPROVAL: ['sometimes'],
  TURSO_DATABASE_URL: [undefined, 'database', silent, broken.url],
  ACCOUNT_RETENTION_DAYS: ['two years', '30', '36501'],
  TURSO_AUTH_TOKEN: [undefined, other],
  SESSION_KEYS: [undefined, 'k:short', 'no-name', `k:${'a'.repeat(43)}`, twoOfOneName],
  CODE_PEPPER: [undefined, 'pepper', `${other} short`],
  CHAT_KEYS: [undefined, 'k:short', 'no-name', `k:${'a'.repeat(43)}`, twoOfOneName],
  CHAT_RETENTION_DAYS: ['0', 'ninety', '36501'],
  CHAT_MESSAGES_PER_MINUTE: ['0'],
  CHAT_MESSAGES_WAITING: ['-1'],
  WHATSAPP_API_BASE: ['graph', silent, broken.url],
  WHATSAPP_API_VERSION: ['25'],
  WHATSAPP_PHONE_NUMBER_ID: [undefined, '42'],
  WHATSAPP_TOKEN: [undefined, other],
  WHATSAPP_TEMPLATE_NAME: [undefined, 'another'],
  WHATSAPP_TEMPLATE_LANGUAGE: ['de'],
  WHATSAPP_APP_SECRET: [],
  WHATSAPP_VERIFY_TOKEN: [],
  BOT_WEBHOOK_URL: [undefined, 'bot', silent, broken.url, wrongPath],
  BOT_WEBHOOK_SECRET: [undefined, 'whsec_c2hvcnQ=', `whsec_${other}`],
  VAPID_KEYS: [undefined, 'pair', `B${'A'.repeat(86)}:${'b'.repeat(43)}`, unpaired],
  PUSH_HOSTS: ['push', 'https://push.example/path'],
  STRIPE_API_BASE: ['stripe', silent, broken.url],
  STRIPE_SECRET_KEY: [undefined, 'pk_test_public', `sk_test_${other}`, `sk_live_${other}`],
  STRIPE_WEBHOOK_SECRET: [undefined, 'whsec_short', other],
  WITHDRAWAL_DAYS: ['-1', '401', 'two'],
  WITHDRAWAL_KEPT_DAYS: ['59', '36501'],
  MAIL_API_URL: [undefined, 'mail', silent, broken.url, wrongPath],
  MAIL_API_KEY: [undefined, other],
  MAIL_FROM: [undefined, 'nobody'],
  ON_DISPUTE: ['refund'],
  AUTOMATIC_TAX: ['yes'],
  EXTERNAL_TOKEN_ISSUER: [undefined],
  EXTERNAL_TOKEN_AUDIENCE: [undefined],
  EXTERNAL_TOKEN_JWKS_URL: [undefined, 'keys', silent, broken.url, wrongPath],
  CODE_LIFETIME_SECONDS: ['five minutes'],
  CODE_TRIES: ['-1', '0'],
  LIMIT_CODES_PER_NUMBER: ['5 an hour'],
  LIMIT_CODES_PER_NUMBER_HARD: ['30 a day'],
  LIMIT_WRONG_TRIES_PER_NUMBER: ['20/2d'],
  LIMIT_CODES_PER_ADDRESS: ['0x5/1h'],
  LIMIT_CODE_REQUESTS_PER_ADDRESS: ['60/1w'],
  LIMIT_TRIES_PER_ADDRESS: ['/5m', '0/5m'],
  LIMIT_CODES_PER_NETWORK: ['many', '100/0h'],
  LIMIT_CODE_REQUESTS_PER_NETWORK: ['300'],
  LIMIT_TRIES_PER_NETWORK: ['1/2d'],
  LIMIT_STATEMENTS_PER_ADDRESS: ['20', '0/1h'],
  LIMIT_CALLS_PER_USER: ['240', '0/1m'],
  CODE_BUDGET_PER_DAY: ['all', '0'],
  WRONG_TRIES_BUDGET_PER_DAY: ['none', '0'],
};
/** A local run has neither a contact form nor readers of help lines; its Stripe has a new account's payment methods. */
const examples = [
  'Company name',
  'Company address',
  'Business number',
  'Chat number',
  'Support address',
  'Support hours',
  'Testimonials',
];
const warnedLocally = [
  'CONTACT_URL',
  'HELP_LINES_READ_ON',
  'Help lines',
  'Payment methods',
  ...examples,
];
const cases = Object.entries(breakages).flatMap(([name, values]) =>
  values.map((value, index) => [name, value, index === values.length - 1] as const),
);
/** What every `npm test` tries: one value of each setting. */
const chosen = cases.filter(([, , isLast]) => isLast);
const others = cases.filter(([, , isLast]) => !isLast);

const diagnose = (values: Values) => runChecks(values, { target: 'local' });

it('finds nothing wrong with the local services, and warns of the examples of this repository', async () => {
  const findings = await diagnose(vars);
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  const warned = findings
    .filter((finding) => finding.ok && finding.warning)
    .map(({ about }) => about);
  expect(warned).toEqual(expect.arrayContaining(examples));
});

async function namesAlone(name: string, value: string | undefined): Promise<void> {
  const values = { ...vars, [name]: value };
  const findings = await diagnose(values);
  const isNamed = (finding: Finding) =>
    !finding.ok || (finding.warning && !warnedLocally.includes(finding.about));
  expect(new Set(findings.filter(isNamed).map(({ about }) => about))).toEqual(new Set([name]));
  const told = findings.map(lineOf).join('\n');
  for (const secret of [...secretsOf(vars), ...secretsOf(values)])
    expect(told).not.toContain(secret);
}

const title = 'names %s when it is %s, and no other setting, and prints no secret';
// They only read, so those that wait for retries need not wait for each other.
it.concurrent.each(chosen)(title, namesAlone);
it.concurrent.each(others)(title, { tags: ['full'] }, namesAlone);

function secretsOf(values: Values): string[] {
  const names = Object.keys(values).filter((name) => /SECRET|TOKEN$|KEYS|PEPPER/.test(name));
  return names
    .flatMap((name) => values[name]?.split(/[\s:]+/) ?? [])
    .filter((part) => part.length > 8);
}

it('ends with 1 when something is wrong, and with 0 when all is well', async () => {
  const run = (values: Record<string, string>) =>
    promisify(execFile)(process.execPath, ['worker/operations/doctor/run-checks.ts'], {
      env: { ...ownEnvironment, ...values },
    });
  expect((await run(vars)).stdout).toMatch(/Every check passed\. Warnings: \d+\.\n$/);
  await expect(
    run({
      ...vars,
      WHATSAPP_PHONE_NUMBER_ID: '42',
    }),
  ).rejects.toMatchObject({ code: 1 });
});

const { hostname: host, port } = new URL(url);
/** The stock SDK against the local Stripe. */
const stripe = new Stripe(vars.STRIPE_SECRET_KEY, {
  host,
  port,
  protocol: 'http',
  telemetry: false,
});

async function linesOf(more: Values = {}, target: Target = 'local', about = ''): Promise<string[]> {
  const findings = await runChecks({ ...vars, ...more }, { target });
  const lines = findings.filter((finding) => !about || finding.about === about).map(lineOf);
  return lines.filter((line) => !line.startsWith('✓'));
}

/** What the doctor prints although everything is in order. */
const usual = await linesOf();

/** What is wrong before a deployment, which migrates the database. */
async function wrongBefore(more: Values = {}, isPaused = false): Promise<string[]> {
  const findings = await runChecks(
    { ...vars, ...more },
    { target: 'local', mayBeBehind: true, isPaused },
  );
  return findings.filter(({ ok }) => !ok).map(lineOf);
}

type Breakage = () => Promise<() => Promise<unknown>>;

const put = (path: string, body: object) => callJson('PUT', url + path, body);

const changing =
  (path: string, broken: object, whole: object): Breakage =>
  async () => {
    await put(path, broken);
    return () => put(path, whole);
  };

/** Changes what the Stripe Dashboard sets. */
const dashboard = await callJson<object>('GET', `${url}/stripe/dashboard`);
const changeDashboard = (changes: object) => changing('/stripe/dashboard', changes, dashboard);

const switchCardsOff: Breakage = async () => {
  const setCards = (preference: 'on' | 'off') =>
    stripe.paymentMethodConfigurations.update('pmc_1LocalStripeDefault0000', {
      card: { display_preference: { preference } },
    });
  await setCards('off');
  return () => setCards('on');
};

const replaceWebhookByOld: Breakage = async () => {
  const [present] = (await stripe.webhookEndpoints.list()).data;
  const { id, url, api_version: version, enabled_events: events } = present!;
  const create = (api_version: string | null) =>
    stripe.webhookEndpoints.create({
      url,
      enabled_events: events,
      api_version,
    } as Stripe.WebhookEndpointCreateParams);
  await stripe.webhookEndpoints.del(id);
  const old = await create('2024-06-20');
  return async () => {
    await stripe.webhookEndpoints.del(old.id);
    await create(version);
  };
};

const refuseReads =
  (...paths: string[]): Breakage =>
  async () => {
    for (const match of paths)
      await put('/faults', {
        stripe: {
          status: 403,
          match,
        },
      });
    return () => put('/faults', { stripe: null });
  };

const executing =
  (broken: string): Breakage =>
  async () => {
    await database.executeMultiple(broken);
    return () =>
      database.executeMultiple('delete from outbox; delete from bot_calls; delete from users');
  };

/** A user whose conversation's key is wrapped by the key of this name, and bound to its owner. */
const userWithKey = (name = '') => `insert into users
  (id, phone, status, created_at, week_anchor, week_start, chat_key, chat_key_id)
  values ('u1', '+15551234567', 'approved', 0, 0, 0, 'k', '${name}/2')`;
const parkedEvent = `insert into outbox (phone, body, due_at, parked_at) values ('+15551234567', '{}', 0, 1)`;
const countedMessage = `insert into bot_calls (id, fingerprint, by, at, outcome, facts)
  values ('c1', '', '', ${Date.now()}, 'allowed', '{"userId":"u1"}')`;

const { TURSO_DATABASE_URL, TURSO_AUTH_TOKEN } = withoutTables.vars;

/** How the one line begins that the doctor prints about each set-up that is wrong in one way, besides the settings above. */
it.each<[says: string, broken: Values | Breakage, settings?: Values]>([
  [
    '✗ TURSO_DATABASE_URL: the database lacks 0000_initial. ',
    { TURSO_DATABASE_URL, TURSO_AUTH_TOKEN },
  ],
  [
    '✗ WHATSAPP_TOKEN: is the same as CODE_PEPPER. Make a permanent',
    { CODE_PEPPER: vars['WHATSAPP_TOKEN'] },
  ],
  [
    '✗ CHAT_KEYS: lacks spring, with which conversations are encrypted. Put',
    executing(userWithKey('spring')),
  ],
  [
    '! WHATSAPP_TEMPLATE_NAME: the template in es is AUTHENTICATION and PENDING, not AUTHENTICATION and APPROVED, so its codes come in en. ',
    changing('/templates/es', { status: 'PENDING' }, { status: 'APPROVED' }),
  ],
  [
    '! WHATSAPP_TEMPLATE_LANGUAGE: es_MX is no language of the template, so its codes come in en. ',
    { WHATSAPP_TEMPLATE_LANGUAGE: 'en es_MX pt_BR' },
  ],
  [
    '! WHATSAPP_TEMPLATE_LANGUAGE: lacks es and pt-BR, so their codes come in en. ',
    { WHATSAPP_TEMPLATE_LANGUAGE: 'en' },
  ],
  [
    '✗ BOT_WEBHOOK_URL: the bot takes calls that nobody signed. ',
    { BOT_WEBHOOK_URL: careless.url },
  ],
  [
    '✗ BOT_WEBHOOK_URL: the bot does not answer (it redirects, which is not followed). ',
    { BOT_WEBHOOK_URL: moved.url },
  ],
  ['✗ EXTERNAL_TOKEN_JWKS_URL: holds no key. ', { EXTERNAL_TOKEN_JWKS_URL: issuer.url }],
  [
    '✗ CONTACT_URL: does not allow http://localhost:9 in CORS, so browsers cannot send',
    { CONTACT_URL: careless.url },
  ],
  [
    "✗ STRIPE_WEBHOOK_SECRET: Stripe's webhook endpoint sends 2024-06-20, not 2026-",
    replaceWebhookByOld,
  ],
  [
    '✗ STRIPE_SECRET_KEY: may not use Invoice payments, Credit notes, Charges and Refunds, PaymentIntents, SetupIntents, PaymentMethods, Events. ',
    refuseReads(
      '/v1/invoice_p',
      '/v1/credit_notes',
      '/v1/refunds',
      '/v1/payment_intents',
      '/v1/setup_intents',
      '/v1/payment_methods',
      '/v1/events',
    ),
  ],
  ['✗ Payment methods: cards are switched off, so nobody can pay. ', switchCardsOff],
  [
    '✗ AUTOMATIC_TAX: is on, but Stripe Tax is pending: head_office is missing. ',
    { AUTOMATIC_TAX: 'on' },
  ],
  [
    '✗ AUTOMATIC_TAX: is on, but Stripe does not know whether prices contain the tax, and refuses every purchase. ',
    changeDashboard({ taxOrigin: 'US' }),
    { AUTOMATIC_TAX: 'on' },
  ],
  [
    '! AUTOMATIC_TAX: is on, but no tax registration is active, so Stripe adds no tax anywhere. ',
    changeDashboard({ taxOrigin: 'US', taxBehavior: 'exclusive' }),
    { AUTOMATIC_TAX: 'on' },
  ],
  [
    '! Stripe account: has no statement descriptor, so',
    changeDashboard({ statementDescriptor: null }),
  ],
  ['! Stripe account: has no icon and no logo, so', changeDashboard({ icon: null })],
  [
    '! Stripe account: Stripe does not let the account charge',
    changeDashboard({ chargesEnabled: false }),
  ],
  ['! Parked events: the bot refused 1 events for good. ', executing(parkedEvent)],
  [
    '! The bot: the bot counted messages of 1 people today without reporting their contact. ',
    executing(`${userWithKey(vars.CHAT_KEYS.split(':')[0])}; ${countedMessage}`),
  ],
])('the doctor says “%s…” and what to do', async (says, broken, settings = {}) => {
  const [values, repair] = typeof broken === 'function' ? [settings, await broken()] : [broken];
  if (repair) onTestFinished(async () => void (await repair()));
  const lines = await linesOf(values);
  const [line = '', ...others] = lines.filter((each) => !usual.includes(each));
  expect(others).toEqual([]);
  expect(line.slice(0, says.length)).toBe(says);
  // A sentence about the remedy follows.
  expect(line.slice(says.length)).toMatch(/[A-Za-z].{20,}\.$/);
});

/** Lets the newest migrations wait; returns how to undo it. */
async function unapply(count: number) {
  const { rows } = await database.execute(
    `select hash, created_at as at from __drizzle_migrations order by at desc limit ${count}`,
  );
  await database.execute('delete from __drizzle_migrations where created_at >= ?', [
    rows.at(-1)!['at']!,
  ]);
  const sql = `insert into __drizzle_migrations (hash, created_at) select value ->> 'hash', value ->> 'at' from json_each(?)`;
  return () =>
    database.execute(sql, [
      JSON.stringify(
        rows.map(({ hash, at }) => ({
          hash,
          at,
        })),
      ),
    ]);
}

it('does not accuse the bot of messages that may have come from the web, which need no contact', async () => {
  const consent = "update users set chat_consent_version = '1', chat_consent_at = 1";
  const repair = await executing(
    `${userWithKey(vars.CHAT_KEYS.split(':')[0])}; ${countedMessage}; ${consent}`,
  )();
  onTestFinished(async () => void (await repair()));
  expect(await linesOf({}, 'local', 'The bot')).toEqual([]);
});

it.each<[waiting: string[], refused: string | undefined]>([
  [['0018_users', '0019_aliases'], undefined],
  [['0018_users', '0019_aliases', '0020_phone_contract'], '0020_phone_contract'],
  [['0020_phone_contract', '0021_names'], undefined],
  [['0020_phone_contract', '0021_names', '0022_name_contract'], '0022_name_contract'],
])('applies a removal only without an addition before it: %j', (waiting, refused) => {
  expect(prematureRemoval(waiting)).toBe(refused);
});

describe('refuses to add and to remove in one deployment', () => {
  const all = ['0000_initial', '0001_names', '0002_name_contract'];
  const about = (waiting: string[], isPaused = false) =>
    checkSchema(waiting, all, { mayBeBehind: true, isPaused });

  it('while another version runs', () => {
    expect(about(all.slice(1))).toMatchObject({
      ok: false,
      wrong: expect.stringMatching(/^0002_name_contract removes .* since 0001_names waits too$/),
      remedy: expect.stringContaining('`git log -- drizzle/migrations/0002_name_contract.sql`'),
    });
  });

  it.each([
    ['the database is empty', all, false],
    ['the site is paused', all.slice(1), true],
    ['nothing is added', all.slice(2), false],
  ])('unless %s', (_, waiting, isPaused) => {
    expect(about(waiting, isPaused).ok).toBe(true);
  });
});

it('finds a missing key of conversations also while migrations wait', async () => {
  const repair = await executing(userWithKey('spring'))();
  onTestFinished(async () => void (await repair()));
  const reapply = await unapply(1);
  onTestFinished(async () => void (await reapply()));
  expect(await wrongBefore()).toEqual([expect.stringMatching(/^✗ CHAT_KEYS: lacks spring, /)]);
});

it('warns loudly that messages of the contact form go nowhere, until an address allows the site', async () => {
  const about = (CONTACT_URL?: string, target: Target = 'local') =>
    linesOf({ CONTACT_URL }, target, 'CONTACT_URL');
  expect(await about()).toEqual([expect.stringMatching(/^! CONTACT_URL: .*GO NOWHERE/)]);
  expect(await about('contact form')).toEqual([expect.stringMatching(/^✗ .*malformed/)]);
  expect(await about('http://127.0.0.1:1')).toEqual([
    expect.stringMatching(/^✗ .*does not answer/),
  ]);
  expect(await about('http://127.0.0.1:1', 'production')).toEqual([expect.stringMatching(/https/)]);
});

const anyOrigin = { 'access-control-allow-origin': '*' };
it.each<[status: number, headers: Record<string, string>, says: RegExp | null]>([
  [204, { ...anyOrigin, 'access-control-allow-headers': 'Accept, Content-Type' }, null],
  [
    200,
    { 'access-control-allow-origin': vars.SITE_URL, 'access-control-allow-headers': '*' },
    null,
  ],
  [
    204,
    anyOrigin,
    /^✗ CONTACT_URL: does not allow the header content-type in CORS, so browsers cannot send/,
  ],
  [
    405,
    { ...anyOrigin, 'access-control-allow-headers': '*' },
    /^✗ CONTACT_URL: answers the preflight with 405, so/,
  ],
  [
    308,
    { ...anyOrigin, location: url },
    /^✗ CONTACT_URL: answers the preflight with 308, so browsers cannot send/,
  ],
])(
  'an address for the contact form that answers the preflight with %d and %o is judged as browsers do',
  async (status, headers, says) => {
    const form = await serve((_, response) => response.writeHead(status, headers).end());
    const lines = await linesOf({ CONTACT_URL: form.url }, 'local', 'CONTACT_URL');
    await form.close();
    expect(lines).toEqual(says ? [expect.stringMatching(says)] : []);
  },
);

it('asks who read the help lines, until a recent date stands there', async () => {
  const daysAgo = (days: number) =>
    new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const about = (readOn?: string) =>
    linesOf({ HELP_LINES_READ_ON: readOn }, 'local', 'HELP_LINES_READ_ON');
  expect(await about()).toEqual([expect.stringMatching(/^! .*nobody/)]);
  expect(await about(daysAgo(200))).toEqual([expect.stringMatching(/^! .*120 days/)]);
  expect(await about('last week')).toEqual([expect.stringMatching(/^✗/)]);
  expect(await about(daysAgo(1))).toEqual([]);
});

it('asks outside of this machine for https, the live mode, and the address that the pages give', async () => {
  const lines = (await linesOf({}, 'production')).join('\n');
  for (const name of ['SITE_URL', 'TURSO_DATABASE_URL', 'BOT_WEBHOOK_URL', 'STRIPE_API_BASE'])
    expect(lines).toContain(`✗ ${name}: `);
});

describe('the account at Stripe', () => {
  it('is read and not written', async () => {
    const before = (await stripe.events.list({ limit: 100 })).data.length;
    await linesOf({ SITE_URL: 'http://localhost:2' });
    expect((await stripe.events.list({ limit: 100 })).data.length).toBe(before);
    expect((await stripe.webhookEndpoints.list()).data[0]!.url).toContain('localhost:9/');
  });

  it('is found wanting where somebody changed it by hand, and in order again after the setup', async () => {
    const [price] = (await stripe.prices.list({ lookup_keys: ['basic_weekly'] })).data;
    const [portal] = (await stripe.billingPortal.configurations.list()).data;
    const [webhook] = (await stripe.webhookEndpoints.list()).data;
    await stripe.prices.update(price!.id, { active: false });
    // As the set-up of earlier versions left it.
    const features = {
      invoice_history: { enabled: false },
      subscription_update: { billing_cycle_anchor: 'unchanged' },
    } as const;
    await stripe.billingPortal.configurations.update(portal!.id, { features });
    await stripe.webhookEndpoints.update(webhook!.id, { enabled_events: ['invoice.paid'] });
    const told = (await linesOf()).join('\n');
    const dearer =
      'Customer portal: lets people change to a dearer plan without paying a whole week of it. Run `npm run stripe:setup`.';
    for (const part of ['price basic_weekly', 'portal configuration', 'webhook endpoint', dearer])
      expect(told).toContain(part);
    await stripe.prices.update(price!.id, { active: true });
    const setUp = (...flags: string[]) => {
      const command = ['worker/operations/stripe-setup/stripe-setup.ts', ...flags];
      return promisify(execFile)(process.execPath, command, {
        env: {
          ...process.env,
          ...vars,
        },
      });
    };
    const refusal = {
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^--env takes /),
    };
    await expect(setUp('--env', 'produktion')).rejects.toMatchObject(refusal);
    await setUp();
    expect(await linesOf()).toEqual(usual);
  });

  it('is checked by hand where the API or a restricted key does not show it, and not on this machine', async () => {
    const refusing = await serve((_, response) =>
      response.writeHead(403).end('{"error":{"message":"no permission"}}'),
    );
    const { hostname: host, port } = new URL(refusing.url);
    const restricted = new Stripe('rk_test_x', {
      host,
      port,
      protocol: 'http',
      maxNetworkRetries: 0,
    });
    const settings = settingsOf(vars)!;
    const linesOfAccount = async (account: Stripe, target: Target) =>
      (await checkStripeAccount(account, settings, target)).map(lineOf);
    const byHand =
      /^\? Stripe Dashboard, check by hand: .*; who is told about disputes\. The checklist is in .*#stripe-dashboard\.$/;
    expect(await linesOfAccount(stripe, 'preview')).toContainEqual(expect.stringMatching(byHand));
    expect((await linesOfAccount(stripe, 'local')).join('\n')).not.toMatch(/^\?/m);
    const refused = expect.stringMatching(
      /^\? .*the account \(the key may not read it\); payment methods/,
    );
    expect(await linesOfAccount(restricted, 'local')).toEqual([refused]);
    await refusing.close();
  });
});
