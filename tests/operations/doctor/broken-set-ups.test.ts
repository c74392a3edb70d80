import type { Values } from '../../../worker/operations/target.ts';
import {
  archivePrice,
  changeDashboard,
  changeTemplate,
  loseChatKey,
  replaceWebhookByOld,
  switchCardsOff,
  type Breakage,
  type Fixtures,
  addressOf,
  openStripe,
  serve,
  startFixtures,
} from './fixtures.ts';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lineOf } from '../../../worker/operations/doctor/finding.ts';
import { checkSettings, runChecks } from '../../../worker/operations/doctor/run-checks.ts';
import { checkStripeAccount } from '../../../worker/operations/doctor/stripe-checks.ts';
import type { Settings } from '../../../worker/settings.ts';

export type SetUp = {
  name: string;
  values?: (fixtures: Fixtures) => Values;
  breaks?: Breakage;
  says: string;
};

const random = 'Make one with `openssl rand -base64 48 | tr -d "+/=\\n" | cut -c1-43`.';

/** Set-ups that are wrong in one way each, and the one line that the doctor prints about each. */
export const brokenSetUps: SetUp[] = [
  {
    name: 'the address of the database was forgotten',
    values: () => ({ TURSO_DATABASE_URL: undefined }),
    says: '✗ TURSO_DATABASE_URL: is missing. Take it from `turso db show <database> --url`.',
  },
  {
    name: 'the token of the database was revoked',
    values: () => ({ TURSO_AUTH_TOKEN: 'x'.repeat(43) }),
    says: '✗ TURSO_AUTH_TOKEN: is refused by the database. Make one with `turso db tokens create <database>`.',
  },
  {
    name: 'the database was never migrated',
    values: ({ emptyDatabase: { TURSO_DATABASE_URL, TURSO_AUTH_TOKEN } }) => ({ TURSO_DATABASE_URL, TURSO_AUTH_TOKEN }),
    says: '✗ TURSO_DATABASE_URL: the database lacks 0000_accounts, … Run `npm run deploy`, which migrates it.',
  },
  {
    name: 'a session key was typed by hand',
    values: () => ({ SESSION_KEYS: 'k1:hunter2' }),
    says: `✗ SESSION_KEYS: is malformed. Write \`name:secret\`, the secret of 43 characters. ${random}`,
  },
  {
    name: 'one secret serves twice',
    values: ({ vars }) => ({ CODE_PEPPER: vars['WHATSAPP_TOKEN'] }),
    says: '✗ WHATSAPP_TOKEN: is the same as CODE_PEPPER. Make a permanent token of a system user in Meta Business settings, with both WhatsApp permissions.',
  },
  {
    name: 'the key of conversations was removed too early',
    breaks: loseChatKey,
    says: `✗ CHAT_KEYS: lacks spring, with which conversations are encrypted. Put the old key back behind the new one. Write \`name:secret\`, the secret of 43 characters. ${random}`,
  },
  {
    name: 'the token of WhatsApp is another app’s',
    values: () => ({ WHATSAPP_TOKEN: 'y'.repeat(43) }),
    says: '✗ WHATSAPP_TOKEN: is refused by WhatsApp. Make a permanent token of a system user in Meta Business settings, with both WhatsApp permissions.',
  },
  {
    name: 'the template is not approved in the language',
    values: () => ({ WHATSAPP_TEMPLATE_LANGUAGE: 'de' }),
    says: '✗ WHATSAPP_TEMPLATE_LANGUAGE: de is no language of the template. Write the languages in which the template was approved, such as en es pt_BR.',
  },
  {
    name: 'the template waits for approval in one language',
    breaks: changeTemplate('es', 'PENDING'),
    says: '! WHATSAPP_TEMPLATE_NAME: the template in es is AUTHENTICATION and PENDING, not AUTHENTICATION and APPROVED, so its codes come in en. Make an authentication template with a copy-code button in WhatsApp Manager.',
  },
  {
    name: 'the template has no version in a second language',
    values: () => ({ WHATSAPP_TEMPLATE_LANGUAGE: 'en es_MX pt_BR' }),
    says: '! WHATSAPP_TEMPLATE_LANGUAGE: es_MX is no language of the template, so its codes come in en. Write the languages in which the template was approved, such as en es pt_BR.',
  },
  {
    name: 'a language of the site has no template',
    values: () => ({ WHATSAPP_TEMPLATE_LANGUAGE: 'en' }),
    says: '! WHATSAPP_TEMPLATE_LANGUAGE: lacks es and pt-BR, so their codes come in en. Write the languages in which the template was approved, such as en es pt_BR.',
  },
  {
    name: 'the bot takes calls that nobody signed',
    values: ({ botUrl }) => ({ BOT_WEBHOOK_URL: botUrl }),
    says: '✗ BOT_WEBHOOK_URL: the bot takes calls that nobody signed. Let the bot verify them as Standard Webhooks says.',
  },
  {
    name: 'the bot does not run',
    values: ({ closedUrl }) => ({ BOT_WEBHOOK_URL: closedUrl }),
    says: '✗ BOT_WEBHOOK_URL: the bot does not answer (ECONNREFUSED). Write the address at which the bot takes events.',
  },
  {
    name: 'the external issuer shows no key',
    values: ({ issuerUrl }) => ({ EXTERNAL_TOKEN_JWKS_URL: issuerUrl }),
    says: '✗ EXTERNAL_TOKEN_JWKS_URL: holds no key. Write the address of the key set of the external issuer.',
  },
  {
    name: 'the contact form’s service lets no browser in',
    values: ({ formUrl }) => ({ CONTACT_URL: formUrl }),
    says: '✗ CONTACT_URL: does not allow http://localhost:9 in CORS, so browsers cannot send to it. Write the https address of a webhook or form service that takes JSON by POST and allows the site in CORS.',
  },
  {
    name: 'the key is of another Stripe account',
    values: () => ({ STRIPE_SECRET_KEY: `sk_test_${'z'.repeat(43)}` }),
    says: '✗ STRIPE_SECRET_KEY: is refused by Stripe. Take a secret or restricted key from the Stripe dashboard: Developers > API keys.',
  },
  {
    name: 'the key charges real cards outside production',
    values: () => ({ STRIPE_SECRET_KEY: `sk_live_${'z'.repeat(43)}` }),
    says: '✗ STRIPE_SECRET_KEY: must be of the test mode in local. Take a secret or restricted key from the Stripe dashboard: Developers > API keys.',
  },
  {
    name: 'somebody archived a price',
    breaks: archivePrice,
    says: "✗ STRIPE_SECRET_KEY: Stripe has no price premium_weekly, no portal configuration for …, and Stripe's portal configuration is out of date. Run `npm run stripe:setup`.",
  },
  {
    name: 'the webhook endpoint was made by hand, in an old version',
    breaks: replaceWebhookByOld,
    says: "✗ STRIPE_WEBHOOK_SECRET: Stripe's webhook endpoint sends 2024-06-20, not 2026-10-28.endive. Delete it in the Stripe Dashboard, run `npm run stripe:setup`, and put the new secret in front.",
  },
  {
    name: 'cards are switched off',
    breaks: switchCardsOff,
    says: '✗ Payment methods: cards are switched off, so nobody can pay. Switch them on in the Stripe Dashboard: Settings > Payment methods.',
  },
  {
    name: 'tax is on, and Stripe Tax is not set up',
    values: () => ({ AUTOMATIC_TAX: 'on' }),
    says: '✗ AUTOMATIC_TAX: is on, but Stripe Tax is pending: head_office is missing. Complete Settings > Tax in the Stripe Dashboard, or set AUTOMATIC_TAX=off.',
  },
  {
    name: 'nobody recognises the charge on the statement',
    breaks: changeDashboard({ statementDescriptor: null }),
    says: '! Stripe account: has no statement descriptor, so customers do not recognise the charge. Write one in the Stripe Dashboard: Settings > Business > Public details.',
  },
  {
    name: 'the account has no logo',
    breaks: changeDashboard({ icon: null }),
    says: "! Stripe account: has no icon and no logo, so Checkout, portal and receipts look like nobody's. Add one in the Stripe Dashboard: Settings > Business > Branding.",
  },
  {
    name: 'the account was never activated',
    breaks: changeDashboard({ chargesEnabled: false }),
    says: '! Stripe account: Stripe does not let the account charge anybody yet. Finish the activation in the Stripe Dashboard: Settings > Business > Account status.',
  },
];

let fixtures: Fixtures;
/** What the doctor prints although everything is in order. */
let usual: string[];
beforeAll(async () => {
  fixtures = await startFixtures();
  usual = await complaints();
});
afterAll(() => fixtures.close());

const complaints = async (more: Values = {}) =>
  (await runChecks({ ...fixtures.vars, ...more }, { target: 'local' }))
    .map(lineOf)
    .filter((line) => !line.startsWith('✓'));

describe('the doctor names in one sentence, with the next step,', () => {
  it.each(brokenSetUps)('$name', async ({ values, breaks, says }) => {
    const repair = await breaks?.(fixtures);
    const found = (await complaints(values?.(fixtures))).filter((line) => !usual.includes(line));
    await repair?.();
    expect(found.map(shortened)).toEqual([says]);
    expect(await complaints()).toEqual(usual);
  });
});

/** The list of migrations grows, and Stripe's ids are random. */
function shortened(line: string): string {
  return line.replace(/(?<=0000_accounts), [\w, ]+\./, ', …').replace(/price_1\w+/, '…');
}

describe('what Stripe’s API does not show', () => {
  const linesOf = async (target: 'local' | 'preview', stripe = openStripe(fixtures)) => {
    const { settings } = checkSettings(fixtures.vars);
    return (await checkStripeAccount(stripe, settings as Settings, target)).map(lineOf);
  };

  it('stands in one line for a person, and not on this machine', async () => {
    const lines = await linesOf('preview');
    expect(lines.filter((line) => line.startsWith('?'))).toEqual([
      '? Stripe Dashboard, check by hand: retries of failed payments and what follows the last one; e-mails about receipts, failed payments and authentication; one subscription per customer; who is told about disputes. The checklist is in worker/docs/runbook.md#stripe-dashboard.',
    ]);
    expect((await linesOf('local')).filter((line) => line.startsWith('?'))).toEqual([]);
  });

  it('includes what a restricted key may not read', async () => {
    const refusing = await serve((_, response) => response.writeHead(403).end('{"error":{"message":"no permission"}}'));
    const { port } = new URL(addressOf(refusing));
    const stripe = new Stripe('rk_test_x', { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries: 0 });
    const lines = await linesOf('local', stripe);
    refusing.close();
    expect(lines).toEqual([expect.stringMatching(/^\? .*the account \(the key may not read it\); payment methods/)]);
  });
});
