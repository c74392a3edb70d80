import type { Stripe } from 'stripe';
import { apiVersion } from '../../../billing/stripe-client.ts';
import { unknownPricesInUse, type UnknownPrice } from '../../../billing/subscriptions.ts';
import type { Settings } from '../../../settings.ts';
import { failureReasonOf } from '../http-request.ts';
import { fine, warning, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';
import { readingStripe, rehearseSetup } from '../../deploy/rehearse-stripe-setup.ts';
import { checkStripeAccount } from './stripe-account.ts';
import type { Target } from '../../target.ts';

const remedy = 'Run `npm run stripe:setup`.';

/** Whether the key has the right mode and permissions, and Stripe has the products on sale. */
export async function checkStripe(settings: Settings, target: Target): Promise<Finding[]> {
  const mode = checkMode(settings.STRIPE_SECRET_KEY, target);
  if (!mode.ok) return [mode];
  try {
    const refused = await refusedReads(readingStripe(settings));
    if (refused.length > 0) return [mode, permission(refused)];
    const prices = await unknownPricesInUse(readingStripe(settings));
    return [
      mode,
      fine('Stripe answers'),
      ...checkSetup(await rehearseSetup(settings)),
      ...prices.map(unknown),
      ...(await checkWebhookVersion(readingStripe(settings), settings)),
      ...(await checkStripeAccount(readingStripe(settings), settings, target)),
    ];
  } catch (error) {
    return [mode, refusal(error as StripeError)];
  }
}

/** Stripe never changes the version of an endpoint, so `stripe:setup` cannot remedy it. */
async function checkWebhookVersion(stripe: Stripe, { SITE_URL }: Settings): Promise<Finding[]> {
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 });
  const endpoint = data.find(({ url }) => url === `${SITE_URL}/api/webhooks/stripe`);
  if (!endpoint || endpoint.api_version === apiVersion) return [];
  const what = `Stripe's webhook endpoint sends ${endpoint.api_version ?? "the account's version"}, not ${apiVersion}`;
  const how = 'Delete it in the Stripe Dashboard, run `npm run stripe:setup`, and put the new secret in front.';
  return [wrong('STRIPE_WEBHOOK_SECRET', what, how)];
}

type StripeError = Error & { statusCode?: number; detail?: unknown };

function checkMode(key: string, target: Target): Finding {
  const wanted = target === 'production' ? 'live' : 'test';
  if (key.split('_')[1] === wanted) return fine(`Stripe's key is of the ${wanted} mode`);
  return wrong('STRIPE_SECRET_KEY', `must be of the ${wanted} mode in ${target}`, howToGet.STRIPE_SECRET_KEY);
}

/** The resources that the Worker uses and the key may not read. */
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
    Disputes: () => stripe.disputes.list(one),
    'Customer portal': () => stripe.billingPortal.configurations.list(one),
    'Webhook endpoints': () => stripe.webhookEndpoints.list(one),
  };
  const refused: string[] = [];
  for (const [part, read] of Object.entries(reads)) {
    await read().catch((error: StripeError) => {
      if (error.statusCode !== 403) throw error;
      refused.push(part);
    });
  }
  return refused;
}

function permission(parts: string[]): Finding {
  const how = 'Give the restricted key write access to them in the Stripe dashboard: Developers > API keys.';
  return wrong('STRIPE_SECRET_KEY', `may not use ${parts.join(', ')}`, how);
}

/** The rehearsal in one finding for what is missing or out of date: one command mends all of it. */
function checkSetup(lines: string[]): Finding[] {
  const setup = lines.map((line) => ({ verb: line.split(' ')[0], what: line.slice(line.indexOf(' ') + 1) }));
  const kept = setup.filter(({ verb }) => verb === 'kept').map(({ what }) => fine(`Stripe has the ${what}`));
  const missing = setup.filter(({ verb }) => verb === 'created').map(({ what }) => what);
  const outdated = setup.filter(({ verb }) => verb === 'updated').map(({ what }) => what);
  if (missing.length + outdated.length === 0) return kept;
  // The portal and the webhook lead to the site; anything else is another account, or was changed there.
  const isOfSite = [...missing, ...outdated].every((what) => /^(portal|webhook)/.test(what));
  const faults = [
    missing.length > 0 && `Stripe has no ${missing.join(', no ')}`,
    outdated.length > 0 && `Stripe's ${outdated.join(' and ')} is out of date`,
  ].filter((fault) => fault !== false);
  return [...kept, wrong(isOfSite ? 'SITE_URL' : 'STRIPE_SECRET_KEY', faults.join(', and '), remedy)];
}

function unknown({ price, subscription }: UnknownPrice): Finding {
  const what = `${subscription} is charged by a price without a plan`;
  return warning(price, what, 'Set the metadata `tier` of the price at Stripe, or cancel the subscription.');
}

function refusal(error: StripeError): Finding {
  if (error.statusCode === 401) return wrong('STRIPE_SECRET_KEY', 'is refused by Stripe', howToGet.STRIPE_SECRET_KEY);
  const why = error.statusCode ? `it answers ${error.statusCode}` : failureReasonOf(error.detail ?? error);
  return wrong('STRIPE_API_BASE', `Stripe does not answer (${why})`, howToGet.STRIPE_API_BASE);
}
