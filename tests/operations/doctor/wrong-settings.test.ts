import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { type SettingName, runChecks } from '../../../worker/operations/doctor/run-checks.ts';
import { lineOf, type Finding } from '../../../worker/operations/doctor/finding.ts';
import type { Values } from '../../../worker/operations/owner-command.ts';
import { freshKeyPair } from '../../product/vars.ts';
import { startTestServices } from '../../product/start-product.ts';
import { serve } from '../test-product.ts';

const services = await startTestServices();
const broken = await serve((_, response) => response.writeHead(500).end('{}'));
const { vars } = services;
afterAll(() => Promise.all([services.close(), broken.close()]));

const silent = 'http://127.0.0.1:1';
const wrongPath = `${services.url}/nothing`;
const other = 'Zm9yZ290dGVuLXNlY3JldC1vZi1zb21lYm9keS1lbHNlLWFsdG9nZXRoZXI';

const unpaired = `${freshKeyPair().split(':')[0]}:${other.slice(0, 43)}`;

/** For each setting, values that are wrong in one way each; undefined stands for none at all. */
const breakages: Record<SettingName, (string | undefined)[]> = {
  SITE_URL: [undefined, 'solace', 'http://localhost:2', 'http://localhost:9/app'],
  WEB_ORIGINS: ['solace.example', 'https://solace.example/'],
  APPROVAL: ['sometimes'],
  TURSO_DATABASE_URL: [undefined, 'database', silent, broken.url],
  ACCOUNT_RETENTION_DAYS: ['two years', '30'],
  TURSO_AUTH_TOKEN: [undefined, other],
  SESSION_KEYS: [undefined, 'k:short', 'no-name', `k:${'a'.repeat(43)}`],
  CODE_PEPPER: [undefined, 'pepper', `${other} short`],
  CHAT_KEYS: [undefined, 'k:short', 'no-name', `k:${'a'.repeat(43)}`],
  CHAT_RETENTION_DAYS: ['0', 'ninety'],
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
  LIMIT_CALLS_PER_USER: ['240', '0/1m'],
  CODE_BUDGET_PER_DAY: ['all', '0'],
};
/** A local run has neither a contact form nor readers of help lines; its Stripe has a new account's payment methods. */
const examples = ['Company name', 'Business number', 'Support hours', 'Testimonials'];
const warnedLocally = ['CONTACT_URL', 'HELP_LINES_READ_ON', 'Help lines', 'Payment methods', ...examples];
const cases = Object.entries(breakages).flatMap(([name, values]) => values.map((value) => [name, value] as const));

const diagnose = (values: Values) => runChecks(values, { target: 'local' });

it('finds nothing wrong with the local services, and warns of the examples of this repository', async () => {
  const findings = await diagnose(vars);
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  const warned = findings.filter((finding) => finding.ok && finding.warning).map(({ about }) => about);
  expect(warned).toEqual(expect.arrayContaining(examples));
});

// They only read, so those that wait for retries need not wait for each other.
it.concurrent.each(cases)('names %s when it is %s, and no other setting, and prints no secret', async (name, value) => {
  const values = { ...vars, [name]: value };
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

it('ends with 1 when something is wrong, and with 0 when all is well', async () => {
  const run = (values: Record<string, string>) =>
    promisify(execFile)(process.execPath, ['worker/operations/doctor/run-checks.ts'], {
      env: { PATH: process.env['PATH'], ...values },
    });
  expect((await run(vars)).stdout).toMatch(/Every check passed\. Warnings: \d\.\n$/);
  await expect(run({ ...vars, WHATSAPP_PHONE_NUMBER_ID: '42' })).rejects.toMatchObject({ code: 1 });
});
