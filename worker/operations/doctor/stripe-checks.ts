import type { Stripe } from 'stripe';
import { apiVersion } from '../../billing/stripe-client.ts';
import {
  portalMetadata,
  unknownPricesInUse,
  type UnknownPrice,
} from '../../billing/subscriptions.ts';
import type { Settings } from '../../settings.ts';
import {
  failureReasonOf,
  fine,
  warning,
  wrong,
  type Finding,
  howToGet,
  byHand,
} from './doctor-finding.ts';
import { readingStripe, rehearseSetup } from '../stripe-setup/stripe-setup.ts';
import type { Target } from '../owner-command.ts';

const remedy = 'Run `npm run stripe:setup`.';

export async function checkStripe(settings: Settings, target: Target): Promise<Finding[]> {
  const mode = checkMode(settings.require('STRIPE_SECRET_KEY'), target);
  if (!mode.ok) return [mode];
  try {
    const refused = await refusedReads(readingStripe(settings));
    if (refused.length > 0) return [mode, permission(refused)];
    const prices = await unknownPricesInUse(readingStripe(settings));
    return [
      mode,
      fine('Stripe answers'),
      ...checkSetup(await rehearseSetup(settings)),
      ...(await checkPlanChanges(readingStripe(settings))),
      ...prices.map(unknown),
      ...(await checkWebhookVersion(readingStripe(settings), settings)),
      ...(await checkStripeAccount(readingStripe(settings), settings, target)),
    ];
  } catch (error) {
    return [mode, refusal(error as StripeError)];
  }
}

/** An earlier portal grants a week for cents. */
async function checkPlanChanges(stripe: Stripe): Promise<Finding[]> {
  const { data } = await stripe.billingPortal.configurations.list({
    active: true,
    limit: 100,
  });
  const own = data.filter(({ metadata }) => metadata?.solace === portalMetadata.solace);
  if (own.every(({ features }) => features.subscription_update.billing_cycle_anchor === 'now'))
    return [];
  return [
    wrong(
      'Customer portal',
      'lets people change to a dearer plan without paying a whole week of it',
      remedy,
    ),
  ];
}

/** Stripe never changes the version of an endpoint. */
async function checkWebhookVersion(stripe: Stripe, { SITE_URL }: Settings): Promise<Finding[]> {
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 });
  const endpoint = data.find(({ url }) => url === `${SITE_URL}/api/webhooks/stripe`);
  if (!endpoint || endpoint.api_version === apiVersion) return [];
  const what = `Stripe's webhook endpoint sends ${endpoint.api_version ?? "the account's version"}, not ${apiVersion}`;
  const how =
    'Delete it in the Stripe Dashboard, run `npm run stripe:setup`, and put the new secret in front.';
  return [wrong('STRIPE_WEBHOOK_SECRET', what, how)];
}

type StripeError = Error & { statusCode?: number; detail?: unknown };

function checkMode(key: string, target: Target): Finding {
  const wanted = target === 'production' ? 'live' : 'test';
  if (key.split('_')[1] === wanted) return fine(`Stripe's key is of the ${wanted} mode`);
  return wrong(
    'STRIPE_SECRET_KEY',
    `must be of the ${wanted} mode in ${target}`,
    howToGet.STRIPE_SECRET_KEY,
  );
}

async function refusedReads(stripe: Stripe): Promise<string[]> {
  const one = { limit: 1 };
  const reads = {
    Products: () => stripe.products.list(one),
    Prices: () => stripe.prices.list(one),
    Customers: () => stripe.customers.list(one),
    'Checkout Sessions': () => stripe.checkout.sessions.list(one),
    Subscriptions: () => stripe.subscriptions.list(one),
    'Subscription schedules': () => stripe.subscriptionSchedules.list(one),
    Invoices: () => stripe.invoices.list(one),
    'Invoice payments': () => stripe.invoicePayments.list(one),
    'Credit notes': () => stripe.creditNotes.list(one),
    'Charges and Refunds': () => stripe.charges.list(one).then(() => stripe.refunds.list(one)),
    PaymentIntents: () => stripe.paymentIntents.retrieve('pi_none'),
    SetupIntents: () => stripe.setupIntents.retrieve('seti_none'),
    PaymentMethods: () => stripe.paymentMethods.retrieve('pm_none'),
    Disputes: () => stripe.disputes.list(one),
    'Customer portal': () => stripe.billingPortal.configurations.list(one),
    Events: () => stripe.events.list(one),
    'Webhook endpoints': () => stripe.webhookEndpoints.list(one),
  };
  const refused: string[] = [];
  for (const [part, read] of Object.entries(reads)) {
    await read().catch((error: StripeError) => {
      if (error.statusCode === 403) refused.push(part);
      else if (error.statusCode !== 404) throw error;
    });
  }
  return refused;
}

function permission(parts: string[]): Finding {
  const how =
    'Give the restricted key write access to them in the Stripe dashboard: Developers > API keys. Read access is enough for disputes, events, intents, payment methods and invoice payments.';
  return wrong('STRIPE_SECRET_KEY', `may not use ${parts.join(', ')}`, how);
}

function checkSetup(lines: string[]): Finding[] {
  const setup = lines.map((line) => ({
    verb: line.split(' ')[0],
    what: line.slice(line.indexOf(' ') + 1),
  }));
  const kept = setup
    .filter(({ verb }) => verb === 'kept')
    .map(({ what }) => fine(`Stripe has the ${what}`));
  const missing = setup.filter(({ verb }) => verb === 'created').map(({ what }) => what);
  const outdated = setup.filter(({ verb }) => verb === 'updated').map(({ what }) => what);
  if (missing.length + outdated.length === 0) return kept;
  const isOfSite = [...missing, ...outdated].every((what) => /^(portal|webhook)/.test(what));
  const faults = [
    missing.length > 0 && `Stripe has no ${missing.join(', no ')}`,
    outdated.length > 0 && `Stripe's ${outdated.join(' and ')} is out of date`,
  ].filter((fault) => fault !== false);
  return [
    ...kept,
    wrong(isOfSite ? 'SITE_URL' : 'STRIPE_SECRET_KEY', faults.join(', and '), remedy),
  ];
}

function unknown({ price, subscription }: UnknownPrice): Finding {
  const what = `${subscription} is charged by a price without a plan`;
  return warning(
    price,
    what,
    'Set the metadata `tier` of the price at Stripe, or cancel the subscription.',
  );
}

function refusal(error: StripeError): Finding {
  if (error.statusCode === 401)
    return wrong('STRIPE_SECRET_KEY', 'is refused by Stripe', howToGet.STRIPE_SECRET_KEY);
  const why = error.statusCode
    ? `it answers ${error.statusCode}`
    : failureReasonOf(error.detail ?? error);
  return wrong('STRIPE_API_BASE', `Stripe does not answer (${why})`, howToGet.STRIPE_API_BASE);
}

type StripeAccount = Stripe.Account;
type Read = { part: string; findings: Finding[] | null };

/** The runbook says what each should be. */
const neverShown = [
  'retries of failed payments and what follows the last one',
  'e-mails about receipts, failed payments and authentication',
  'one subscription per customer',
  'who is told about disputes',
];

export async function checkStripeAccount(
  stripe: Stripe,
  settings: Settings,
  target: Target,
): Promise<Finding[]> {
  const reads = [
    await read('the account', async () =>
      checkAccount(await stripe.accounts.retrieveCurrent(), target),
    ),
    await read('payment methods', () => checkMethods(stripe)),
    await read('tax', () => checkTax(stripe, settings)),
  ];
  const closed = reads.flatMap(({ part, findings }) =>
    findings ? [] : [`${part} (the key may not read it)`],
  );
  const findings = reads.flatMap((each) => each.findings ?? []);
  // The local Stripe has no Dashboard.
  const unseen = target === 'local' ? closed : [...neverShown, ...closed];
  if (unseen.length === 0) return findings;
  const list = unseen.join('; ');
  return [
    ...findings,
    byHand(
      'Stripe Dashboard',
      list,
      'The checklist is in worker/docs/runbook.md#stripe-dashboard.',
    ),
  ];
}

async function read(part: string, check: () => Promise<Finding[]>): Promise<Read> {
  try {
    return { part, findings: await check() };
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode !== 403) throw error;
    return { part, findings: null };
  }
}

function checkAccount(
  { charges_enabled, settings, business_profile: profile }: StripeAccount,
  target: Target,
): Finding[] {
  const about = 'Stripe account';
  const branding = settings?.branding;
  const missing = [
    !settings?.payments.statement_descriptor && {
      what: 'has no statement descriptor, so customers do not recognise the charge',
      remedy: 'Write one in the Stripe Dashboard: Settings > Business > Public details.',
    },
    !branding?.icon &&
      !branding?.logo && {
        what: "has no icon and no logo, so Checkout, portal and receipts look like nobody's",
        remedy: 'Add one in the Stripe Dashboard: Settings > Business > Branding.',
      },
    !profile?.support_email &&
      !profile?.support_url && {
        what: 'names no support e-mail or page on receipts',
        remedy: 'Write one in the Stripe Dashboard: Settings > Business > Public details.',
      },
  ].flatMap((each) => (each ? [warning(about, each.what, each.remedy)] : []));
  return [
    ...checkCharging(charges_enabled, target),
    ...(missing.length > 0 ? missing : [fine(`${about} is complete`)]),
  ];
}

/** Test mode charges test cards all the same. */
function checkCharging(isEnabled: boolean, target: Target): Finding[] {
  if (isEnabled) return [];
  const what = 'Stripe does not let the account charge anybody yet';
  const remedy =
    'Finish the activation in the Stripe Dashboard: Settings > Business > Account status.';
  return [
    target === 'production'
      ? wrong('STRIPE_SECRET_KEY', what, remedy)
      : warning('Stripe account', what, remedy),
  ];
}

/** A renewal would stay unpaid so long. */
const confirmedLater = new Set([
  'acss_debit',
  'au_becs_debit',
  'bacs_debit',
  'boleto',
  'customer_balance',
  'konbini',
  'multibanco',
  'nz_bank_account',
  'oxxo',
  'sepa_debit',
  'sofort',
  'us_bank_account',
]);

async function checkMethods(stripe: Stripe): Promise<Finding[]> {
  const about = 'Payment methods';
  const where = 'in the Stripe Dashboard: Settings > Payment methods.';

  const all = await stripe.paymentMethodConfigurations
    .list({ limit: 100 })
    .autoPagingToArray({ limit: 1000 });
  const inUse = all.filter(
    ({ active, is_default, application }) => active && is_default && !application,
  );

  const on = new Set(inUse.flatMap(switchedOn));
  if (inUse.length > 0 && !on.has('card')) {
    return [wrong(about, 'cards are switched off, so nobody can pay', `Switch them on ${where}`)];
  }

  const late = [...on].filter((name) => confirmedLater.has(name));
  if (late.length === 0) return [fine('Stripe offers only payment methods that confirm at once')];

  const what = `${late.join(', ')} may be saved in the portal and confirms days later, when the renewal is overdue`;
  return [warning(about, what, `Switch it off ${where}`)];
}

function switchedOn(configuration: Stripe.PaymentMethodConfiguration): string[] {
  return Object.entries(configuration).flatMap(([name, method]: [string, unknown]) =>
    isMethod(method) && method.available && method.display_preference.value === 'on' ? [name] : [],
  );
}

function isMethod(value: unknown): value is Stripe.PaymentMethodConfiguration.Card {
  return (
    typeof value === 'object' &&
    value !== null &&
    'display_preference' in value &&
    'available' in value
  );
}

/** Tax matters only where the Worker asks for it. */
async function checkTax(stripe: Stripe, settings: Settings): Promise<Finding[]> {
  if (!settings.require('AUTOMATIC_TAX')) return [];

  const { status, status_details: details, defaults } = await stripe.tax.settings.retrieve();
  if (status !== 'active') {
    const fields = details.pending?.missing_fields?.join(', ') ?? 'the origin address';
    const what = `is on, but Stripe Tax is ${status}: ${fields} is missing`;
    return [
      wrong(
        'AUTOMATIC_TAX',
        what,
        'Complete Settings > Tax in the Stripe Dashboard, or set AUTOMATIC_TAX=off.',
      ),
    ];
  }

  if (defaults.tax_behavior === null) {
    const what =
      'is on, but Stripe does not know whether prices contain the tax, and refuses every purchase';
    const how =
      'Choose the default in Settings > Tax in the Stripe Dashboard: our terms say that taxes are added.';
    return [wrong('AUTOMATIC_TAX', what, how)];
  }
  const { data } = await stripe.tax.registrations.list({
    status: 'active',
    limit: 1,
  });
  if (data.length > 0) return [fine('Stripe Tax is active and registered')];

  const what = 'is on, but no tax registration is active, so Stripe adds no tax anywhere';
  return [
    warning(
      'AUTOMATIC_TAX',
      what,
      'Add the registrations in the Stripe Dashboard: Tax > Registrations.',
    ),
  ];
}
