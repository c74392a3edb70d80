import type { Stripe } from 'stripe';
import type { Settings } from '../../../settings.ts';
import type { Target } from '../../target.ts';
import { byHand, fine, warning, wrong, type Finding } from '../finding.ts';

type Account = Stripe.Account;
type StripeError = Error & { statusCode?: number };
/** The findings about a part of the Dashboard, or null where the key may not read it. */
type Read = { part: string; findings: Finding[] | null };

/** What Stripe's API does not show: the runbook's checklist says what each should be. */
const neverShown = [
  'retries of failed payments and what follows the last one',
  'e-mails about receipts, failed payments and authentication',
  'one subscription per customer',
  'who is told about disputes',
];

/** The settings of the Stripe Dashboard as far as the API shows them, and the list of those that it does not show. */
export async function checkStripeAccount(stripe: Stripe, settings: Settings, target: Target): Promise<Finding[]> {
  const reads = [
    await read('the account', async () => checkAccount(await stripe.accounts.retrieveCurrent(), target)),
    await read('payment methods', () => checkMethods(stripe)),
    await read('tax', () => checkTax(stripe, settings)),
  ];
  const closed = reads.flatMap(({ part, findings }) => (findings ? [] : [`${part} (the key may not read it)`]));
  const findings = reads.flatMap((each) => each.findings ?? []);
  // The local Stripe has no Dashboard.
  const unseen = target === 'local' ? closed : [...neverShown, ...closed];
  if (unseen.length === 0) return findings;
  const list = unseen.join('; ');
  return [
    ...findings,
    byHand('Stripe Dashboard', list, 'The checklist is in worker/docs/runbook.md#stripe-dashboard.'),
  ];
}

async function read(part: string, check: () => Promise<Finding[]>): Promise<Read> {
  try {
    return { part, findings: await check() };
  } catch (error) {
    if ((error as StripeError).statusCode !== 403) throw error;
    return { part, findings: null };
  }
}

function checkAccount({ charges_enabled, settings, business_profile: profile }: Account, target: Target): Finding[] {
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
  const remedy = 'Finish the activation in the Stripe Dashboard: Settings > Business > Account status.';
  return [target === 'production' ? wrong('STRIPE_SECRET_KEY', what, remedy) : warning('Stripe account', what, remedy)];
}

/** Methods that confirm days later: a renewal would stay unpaid so long, and the plan with it. */
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
  const all = await stripe.paymentMethodConfigurations.list({ limit: 100 }).autoPagingToArray({ limit: 1000 });
  const inUse = all.filter(({ active, is_default, application }) => active && is_default && !application);
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
  return typeof value === 'object' && value !== null && 'display_preference' in value && 'available' in value;
}

/** Tax matters only where the Worker asks for it. */
async function checkTax(stripe: Stripe, { AUTOMATIC_TAX }: Settings): Promise<Finding[]> {
  if (!AUTOMATIC_TAX) return [];
  const { status, status_details: details } = await stripe.tax.settings.retrieve();
  if (status !== 'active') {
    const fields = details.pending?.missing_fields?.join(', ') ?? 'the origin address';
    const what = `is on, but Stripe Tax is ${status}: ${fields} is missing`;
    return [wrong('AUTOMATIC_TAX', what, 'Complete Settings > Tax in the Stripe Dashboard, or set AUTOMATIC_TAX=off.')];
  }
  const { data } = await stripe.tax.registrations.list({ status: 'active', limit: 1 });
  if (data.length > 0) return [fine('Stripe Tax is active and registered')];
  const what = 'is on, but no tax registration is active, so Stripe adds no tax anywhere';
  return [warning('AUTOMATIC_TAX', what, 'Add the registrations in the Stripe Dashboard: Tax > Registrations.')];
}
