import type { Stripe } from 'stripe';
import { unknownPricesInUse, type UnknownPrice } from '../../../billing/unknown-prices.ts';
import type { Settings } from '../../../settings.ts';
import { failureReasonOf } from '../http-request.ts';
import { fine, warning, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';
import { readingStripe, rehearseSetup } from '../../deploy/rehearse-stripe-setup.ts';
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
    return [mode, fine('Stripe answers'), ...(await rehearseSetup(settings)).map(asFinding), ...prices.map(unknown)];
  } catch (error) {
    return [mode, refusal(error as StripeError)];
  }
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

/** A finding for a line of the dry run; a line that would change nothing is in order. */
function asFinding(line: string): Finding {
  const [verb, ...rest] = line.split(' ');
  const about = rest.join(' ');
  if (verb === 'kept') return fine(`Stripe has the ${about}`);
  const setting = /^(portal|webhook)/.test(about) ? 'SITE_URL' : 'STRIPE_SECRET_KEY';
  const what = verb === 'created' ? `Stripe has no ${about}` : `Stripe's ${about} is out of date`;
  return wrong(setting, what, remedy);
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
