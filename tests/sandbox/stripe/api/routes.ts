import * as account from '../account.ts';
import * as catalogue from '../catalogue.ts';
import * as customers from '../customers.ts';
import * as checkout from '../hosted/checkout-sessions.ts';
import * as configurations from '../hosted/portal-configurations.ts';
import { createPortalSession } from '../hosted/portal-sessions.ts';
import * as invoices from '../invoices/invoices.ts';
import * as charges from '../payments/charges.ts';
import * as methods from '../payments/payment-methods.ts';
import * as intents from '../payments/intents.ts';
import { createSubscription } from '../subscriptions/new-subscription.ts';
import * as schedules from '../subscriptions/schedules.ts';
import * as subscriptions from '../subscriptions/subscriptions.ts';
import { updateSubscription } from '../subscriptions/update-subscription.ts';
import * as webhooks from '../webhooks.ts';
import type { Call, Handler, World } from '../world.ts';
import {
  list,
  listEvents,
  listInvoicePayments,
  listInvoices,
  listPrices,
  listSchedules,
  listSubscriptions,
  retrieve,
} from './lists.ts';

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
  ['GET', '/v1/prices', listPrices],
  ['POST', '/v1/prices', catalogue.createPrice],
  ['GET', '/v1/prices/:id', retrieve('prices')],
  ['POST', '/v1/prices/:id', catalogue.updatePrice],
  ['GET', '/v1/checkout/sessions', list('checkoutSessions')],
  ['POST', '/v1/checkout/sessions', checkout.createCheckoutSession],
  ['GET', '/v1/checkout/sessions/:id', retrieve('checkoutSessions')],
  ['POST', '/v1/checkout/sessions/:id/expire', checkout.expireCheckoutSession],
  ['GET', '/v1/billing_portal/configurations', list('portalConfigurations')],
  ['POST', '/v1/billing_portal/configurations', configurations.createPortalConfiguration],
  ['POST', '/v1/billing_portal/configurations/:id', configurations.updatePortalConfiguration],
  ['POST', '/v1/billing_portal/sessions', createPortalSession],
  ['GET', '/v1/subscriptions', listSubscriptions],
  ['POST', '/v1/subscriptions', (world: World, { params }: Call<never>) => createSubscription(world, params)],
  ['GET', '/v1/subscriptions/:id', retrieve('subscriptions')],
  ['POST', '/v1/subscriptions/:id', updateSubscription],
  ['DELETE', '/v1/subscriptions/:id', subscriptions.cancelSubscription],
  ['GET', '/v1/subscription_schedules', listSchedules],
  ['POST', '/v1/subscription_schedules', schedules.createSchedule],
  ['POST', '/v1/subscription_schedules/:id/cancel', schedules.cancelSchedule],
  ['POST', '/v1/subscription_schedules/:id/release', schedules.releaseSchedule],
  ['GET', '/v1/invoices', listInvoices],
  ['POST', '/v1/invoices', invoices.createInvoice],
  ['GET', '/v1/invoices/:id', invoices.retrieveInvoice],
  ['POST', '/v1/invoices/:id', invoices.updateInvoice],
  ['POST', '/v1/invoices/:id/finalize', invoices.finalize],
  ['POST', '/v1/invoices/:id/mark_uncollectible', invoices.markUncollectible],
  ['POST', '/v1/invoices/:id/pay', invoices.payInvoice],
  ['POST', '/v1/invoices/:id/void', invoices.voidInvoice],
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
  ['POST', '/v1/refunds', charges.createRefund],
  ['GET', '/v1/disputes', list('disputes')],
  ['GET', '/v1/disputes/:id', retrieve('disputes')],
  ['GET', '/v1/events', listEvents],
  ['GET', '/v1/webhook_endpoints', list('webhookEndpoints')],
  ['POST', '/v1/webhook_endpoints', webhooks.createWebhookEndpoint],
  ['POST', '/v1/webhook_endpoints/:id', webhooks.updateWebhookEndpoint],
  ['DELETE', '/v1/webhook_endpoints/:id', webhooks.deleteWebhookEndpoint],
];
