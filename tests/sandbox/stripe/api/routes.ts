import * as account from '../account.ts';
import * as catalogue from '../catalogue.ts';
import * as coupons from '../coupons.ts';
import * as customers from '../customers.ts';
import * as checkout from '../hosted/checkout.ts';
import * as portal from '../hosted/portal-sessions.ts';
import { markUncollectible, voidInvoice } from '../invoices/collect-invoice.ts';
import * as invoices from '../invoices/invoices.ts';
import * as creditNotes from '../invoices/credit-notes.ts';
import { closeDispute } from '../payments/charges.ts';
import * as refunds from '../payments/refunds.ts';
import * as methods from '../payments/payment-methods.ts';
import * as intents from '../payments/intents.ts';
import { createSubscription } from '../subscriptions/periods.ts';
import * as subscriptions from '../subscriptions/subscriptions.ts';
import { updateSubscription } from '../subscriptions/update-subscription.ts';
import * as webhooks from '../webhooks.ts';
import { type Call, type Handler, type World, idOf, type Tables } from '../world.ts';
import { subscriptionOf } from '../invoices/lines.ts';
import type { Invoice, InvoicePayment, Price, StripeEvent, Subscription } from '../objects.ts';
import { pageOf, type PageParams, type Table } from '../table.ts';
import { invalid } from './errors.ts';

type Doc = { id: string; object: string };
type ListParams = PageParams & {
  customer?: string;
  subscription?: string;
  expand?: string[];
};
type Range =
  | number
  | {
      gt?: number;
      gte?: number;
      lt?: number;
      lte?: number;
    };
type Filters<T> = Record<string, (doc: T, wanted: never) => boolean>;

/** The object that the address names. */
const retrieve =
  (name: keyof Tables): Handler =>
  (world, call) =>
    world[name].get(idOf(call));

/** Lists a table. A parameter filters by the field of its name, if `filters` does not say more. */
function list<Name extends keyof Tables>(
  name: Name,
  filters: Filters<ReturnType<Tables[Name]['get']>> = {},
  isListed: (doc: ReturnType<Tables[Name]['get']>, params: object) => boolean = () => true,
): Handler {
  return function listTable(world, { params, path }: Call<ListParams>) {
    const { limit: _, starting_after: _after, expand: _expand, ...wanted } = params;
    if (wanted.customer !== undefined) world.customers.get(wanted.customer, 'customer');
    if (wanted.subscription !== undefined)
      world.subscriptions.get(wanted.subscription, 'subscription');
    const table = world[name] as unknown as Table<Doc>;
    const found = table.all().filter((doc) => {
      const own = doc as ReturnType<Tables[Name]['get']>;
      return (
        isListed(own, params) &&
        Object.entries(wanted).every(([param, value]) => fits(own, param, value))
      );
    });
    return pageOf(found, params, path, table);
  };

  function fits(doc: ReturnType<Tables[Name]['get']>, param: string, wanted: unknown): boolean {
    const filter = filters[param];
    if (filter) return filter(doc, wanted as never);
    const value = (doc as Record<string, unknown>)[param];
    return param === 'created' ? inRange(value as number, wanted as Range) : value === wanted;
  }
}

/** Whether a time is within a `created` or period filter. */
function inRange(at: number, range: Range): boolean {
  if (typeof range === 'number') return at === range;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range;
  return at > gt && at >= gte && at < lt && at <= lte;
}

const listEvents = list('events', {
  type: ({ type }: StripeEvent, pattern: string) => webhooks.matches(type, pattern),
});

const listInvoices = list('invoices', {
  subscription: (invoice: Invoice, wanted: string) => subscriptionOf(invoice) === wanted,
});

const listInvoicePayments = list('invoicePayments', {
  payment: ({ payment }: InvoicePayment, wanted: { payment_intent: string }) =>
    payment.payment_intent === wanted.payment_intent,
});

const listPrices = list('prices', {
  lookup_keys({ lookup_key: key }: Price, wanted: string[]) {
    if (wanted.length > 10) throw invalid('You can send at most 10 lookup keys.', 'lookup_keys');
    return wanted.includes(key ?? '');
  },
});

const listSchedules = list('schedules', { scheduled: (_, wanted: boolean) => !wanted });

const listSubscriptions = list(
  'subscriptions',
  {
    price: ({ items }: Subscription, wanted: string) =>
      items.data.some(({ price }) => price.id === wanted),
    status: (subscription: Subscription, wanted: string) =>
      wanted === 'all' || subscription.status === wanted,
  },
  (subscription, params) => 'status' in params || !subscriptions.isEnded(subscription),
);

type Route = readonly [method: 'GET' | 'POST' | 'DELETE', path: string, handler: Handler];

/** Every endpoint of Stripe's API that the local Stripe supports. */
export const routes: readonly Route[] = [
  ['GET', '/v1/account', account.retrieveAccount],
  ['GET', '/v1/payment_method_configurations', account.listMethodConfigurations],
  ['POST', '/v1/payment_method_configurations/:id', account.updateMethodConfiguration],
  ['GET', '/v1/tax/settings', account.retrieveTaxSettings],
  ['GET', '/v1/tax/registrations', account.listRegistrations],
  ['GET', '/v1/customers', list('customers', {}, ({ deleted }) => !deleted)],
  ['POST', '/v1/customers', customers.createCustomer],
  ['GET', '/v1/customers/search', customers.searchCustomers],
  ['GET', '/v1/customers/:id', customers.retrieveCustomer],
  ['POST', '/v1/customers/:id', customers.updateCustomer],
  ['DELETE', '/v1/customers/:id', customers.deleteCustomer],
  ['GET', '/v1/customers/:id/payment_methods', methods.listCustomerPaymentMethods],
  ['GET', '/v1/products', list('products')],
  ['POST', '/v1/products', catalogue.createProduct],
  ['POST', '/v1/products/:id', catalogue.updateProduct],
  ['POST', '/v1/coupons', coupons.createCoupon],
  ['GET', '/v1/coupons/:id', retrieve('coupons')],
  ['GET', '/v1/prices', listPrices],
  ['POST', '/v1/prices', catalogue.createPrice],
  ['GET', '/v1/prices/:id', retrieve('prices')],
  ['POST', '/v1/prices/:id', catalogue.updatePrice],
  ['GET', '/v1/checkout/sessions', list('checkoutSessions')],
  ['POST', '/v1/checkout/sessions', checkout.createCheckoutSession],
  ['GET', '/v1/checkout/sessions/:id', retrieve('checkoutSessions')],
  ['POST', '/v1/checkout/sessions/:id/expire', checkout.expireCheckoutSession],
  ['GET', '/v1/billing_portal/configurations', list('portalConfigurations')],
  ['POST', '/v1/billing_portal/configurations', portal.createPortalConfiguration],
  ['POST', '/v1/billing_portal/configurations/:id', portal.updatePortalConfiguration],
  ['POST', '/v1/billing_portal/sessions', portal.createPortalSession],
  ['GET', '/v1/subscriptions', listSubscriptions],
  [
    'POST',
    '/v1/subscriptions',
    (world: World, { params }: Call<never>) => createSubscription(world, params),
  ],
  ['GET', '/v1/subscriptions/:id', retrieve('subscriptions')],
  ['POST', '/v1/subscriptions/:id', updateSubscription],
  ['DELETE', '/v1/subscriptions/:id', subscriptions.cancelSubscription],
  ['GET', '/v1/subscription_schedules', listSchedules],
  ['POST', '/v1/subscription_schedules', subscriptions.createSchedule],
  ['POST', '/v1/subscription_schedules/:id/cancel', subscriptions.cancelSchedule],
  ['POST', '/v1/subscription_schedules/:id/release', subscriptions.releaseSchedule],
  ['GET', '/v1/invoices', listInvoices],
  ['POST', '/v1/invoices', invoices.createInvoice],
  ['GET', '/v1/invoices/:id', invoices.retrieveInvoice],
  ['POST', '/v1/invoices/:id', invoices.updateInvoice],
  ['POST', '/v1/invoices/:id/finalize', invoices.finalize],
  ['POST', '/v1/invoices/:id/mark_uncollectible', markUncollectible],
  ['POST', '/v1/invoices/:id/pay', invoices.payInvoice],
  ['POST', '/v1/invoices/:id/void', voidInvoice],
  ['GET', '/v1/invoices/:id/lines', invoices.listInvoiceLines],
  ['GET', '/v1/invoice_payments', listInvoicePayments],
  ['GET', '/v1/payment_methods', methods.listPaymentMethods],
  ['POST', '/v1/payment_methods', methods.createPaymentMethod],
  ['GET', '/v1/payment_methods/:id', retrieve('paymentMethods')],
  ['POST', '/v1/payment_methods/:id/attach', methods.attachPaymentMethod],
  ['POST', '/v1/payment_methods/:id/detach', methods.detachPaymentMethod],
  ['POST', '/v1/setup_intents', intents.createSetupIntent],
  ['POST', '/v1/setup_intents/:id/confirm', intents.confirmSetupIntent],
  ['POST', '/v1/payment_intents', intents.createPaymentIntent],
  ['GET', '/v1/payment_intents/:id', retrieve('paymentIntents')],
  ['POST', '/v1/payment_intents/:id/confirm', intents.confirmPaymentIntent],
  ['GET', '/v1/charges', list('charges')],
  ['GET', '/v1/charges/:id', retrieve('charges')],
  ['GET', '/v1/refunds', list('refunds')],
  ['POST', '/v1/refunds', refunds.createRefund],
  ['GET', '/v1/refunds/:id', retrieve('refunds')],
  ['POST', '/v1/refunds/:id', refunds.updateRefund],
  ['POST', '/v1/refunds/:id/cancel', refunds.cancelRefund],
  ['GET', '/v1/balance_transactions', list('balanceTransactions')],
  ['GET', '/v1/balance_transactions/:id', retrieve('balanceTransactions')],
  ['GET', '/v1/credit_notes', list('creditNotes')],
  ['POST', '/v1/credit_notes', creditNotes.createCreditNote],
  ['GET', '/v1/credit_notes/:id', retrieve('creditNotes')],
  ['POST', '/v1/credit_notes/:id', creditNotes.updateCreditNote],
  ['POST', '/v1/credit_notes/:id/void', creditNotes.voidCreditNote],
  ['GET', '/v1/disputes', list('disputes')],
  ['GET', '/v1/disputes/:id', retrieve('disputes')],
  ['POST', '/v1/disputes/:id/close', closeDispute],
  ['GET', '/v1/events', listEvents],
  ['GET', '/v1/webhook_endpoints', list('webhookEndpoints')],
  ['POST', '/v1/webhook_endpoints', webhooks.createWebhookEndpoint],
  ['POST', '/v1/webhook_endpoints/:id', webhooks.updateWebhookEndpoint],
  ['DELETE', '/v1/webhook_endpoints/:id', webhooks.deleteWebhookEndpoint],
];
