import { cancelSubscription } from '../subscriptions/subscriptions.ts';
import { createSubscription } from '../subscriptions/new-subscription.ts';
import { updateSubscription } from '../subscriptions/update-subscription.ts';
import * as invoiceCalls from '../invoices/invoices.ts';
import * as intentCalls from '../payments/setup-intents.ts';
import * as setupCalls from '../payments/setup-intents.ts';
import { retrieveAccount } from '../account.ts';
import * as charges from '../payments/charges.ts';
import * as checkout from '../hosted/checkout-sessions.ts';
import * as customers from '../customers.ts';
import * as disputes from '../payments/charges.ts';
import * as events from '../webhooks.ts';
import * as invoicePayments from '../invoices/invoices.ts';
import * as invoices from '../invoices/invoices.ts';
import * as methodConfigurations from '../account.ts';
import * as paymentIntents from '../payments/attempt-payment.ts';
import * as methods from '../payments/payment-methods.ts';
import * as configurations from '../hosted/portal-configurations.ts';
import { createPortalSession } from '../hosted/portal-sessions.ts';
import * as prices from '../catalogue.ts';
import * as products from '../catalogue.ts';
import * as refunds from '../payments/charges.ts';
import * as schedules from '../subscriptions/schedules.ts';
import { searchCustomers } from '../customers.ts';
import * as tax from '../account.ts';
import * as subscriptions from '../subscriptions/subscriptions.ts';
import * as endpoints from '../webhooks.ts';
import type { Call, Handler, World } from '../world.ts';

type Route = readonly [method: 'GET' | 'POST' | 'DELETE', path: string, handler: Handler];

/** Every endpoint of Stripe's API that the local Stripe supports. */
export const routes: readonly Route[] = [
  ['GET', '/v1/account', retrieveAccount],
  ['GET', '/v1/payment_method_configurations', methodConfigurations.listMethodConfigurations],
  ['POST', '/v1/payment_method_configurations/:id', methodConfigurations.updateMethodConfiguration],
  ['GET', '/v1/tax/settings', tax.retrieveTaxSettings],
  ['GET', '/v1/tax/registrations', tax.listRegistrations],
  ['GET', '/v1/customers', customers.listCustomers],
  ['POST', '/v1/customers', customers.createCustomer],
  ['GET', '/v1/customers/search', searchCustomers],
  ['GET', '/v1/customers/:id', customers.retrieveCustomer],
  ['POST', '/v1/customers/:id', customers.updateCustomer],
  ['DELETE', '/v1/customers/:id', customers.deleteCustomer],
  ['GET', '/v1/customers/:id/payment_methods', methods.listCustomerPaymentMethods],
  ['GET', '/v1/products', products.listProducts],
  ['POST', '/v1/products', products.createProduct],
  ['POST', '/v1/products/:id', products.updateProduct],
  ['GET', '/v1/prices', prices.listPrices],
  ['POST', '/v1/prices', prices.createPrice],
  ['GET', '/v1/prices/:id', prices.retrievePrice],
  ['POST', '/v1/prices/:id', prices.updatePrice],
  ['GET', '/v1/checkout/sessions', checkout.listCheckoutSessions],
  ['POST', '/v1/checkout/sessions', checkout.createCheckoutSession],
  ['GET', '/v1/checkout/sessions/:id', checkout.retrieveCheckoutSession],
  ['POST', '/v1/checkout/sessions/:id/expire', checkout.expireCheckoutSession],
  ['GET', '/v1/billing_portal/configurations', configurations.listPortalConfigurations],
  ['POST', '/v1/billing_portal/configurations', configurations.createPortalConfiguration],
  ['GET', '/v1/billing_portal/configurations/:id', configurations.retrievePortalConfiguration],
  ['POST', '/v1/billing_portal/configurations/:id', configurations.updatePortalConfiguration],
  ['POST', '/v1/billing_portal/sessions', createPortalSession],
  ['GET', '/v1/subscriptions', subscriptions.listSubscriptions],
  ['POST', '/v1/subscriptions', (world: World, { params }: Call<never>) => createSubscription(world, params)],
  ['GET', '/v1/subscriptions/:id', subscriptions.retrieveSubscription],
  ['POST', '/v1/subscriptions/:id', updateSubscription],
  ['DELETE', '/v1/subscriptions/:id', cancelSubscription],
  ['GET', '/v1/subscription_schedules', schedules.listSchedules],
  ['POST', '/v1/subscription_schedules', schedules.createSchedule],
  ['POST', '/v1/subscription_schedules/:id', schedules.updateSchedule],
  ['POST', '/v1/subscription_schedules/:id/cancel', schedules.cancelSchedule],
  ['POST', '/v1/subscription_schedules/:id/release', schedules.releaseSchedule],
  ['GET', '/v1/invoices', invoices.listInvoices],
  ['POST', '/v1/invoices', invoiceCalls.createInvoice],
  ['GET', '/v1/invoices/:id', invoices.retrieveInvoice],
  ['POST', '/v1/invoices/:id', invoiceCalls.updateInvoice],
  ['POST', '/v1/invoices/:id/finalize', invoiceCalls.finalize],
  ['POST', '/v1/invoices/:id/pay', invoiceCalls.payInvoice],
  ['POST', '/v1/invoices/:id/void', invoiceCalls.voidInvoice],
  ['GET', '/v1/invoices/:id/lines', invoices.listInvoiceLines],
  ['GET', '/v1/invoice_payments', invoicePayments.listInvoicePayments],
  ['GET', '/v1/payment_methods', methods.listPaymentMethods],
  ['POST', '/v1/payment_methods', methods.createPaymentMethod],
  ['GET', '/v1/payment_methods/:id', methods.retrievePaymentMethod],
  ['POST', '/v1/payment_methods/:id/attach', methods.attachPaymentMethod],
  ['POST', '/v1/payment_methods/:id/detach', methods.detachPaymentMethod],
  ['POST', '/v1/setup_intents', setupCalls.createSetupIntent],
  ['POST', '/v1/setup_intents/:id/confirm', setupCalls.confirmSetupIntent],
  ['POST', '/v1/payment_intents', intentCalls.createPaymentIntent],
  ['GET', '/v1/payment_intents/:id', paymentIntents.retrievePaymentIntent],
  ['POST', '/v1/payment_intents/:id/confirm', intentCalls.confirmPaymentIntent],
  ['GET', '/v1/charges', charges.listCharges],
  ['POST', '/v1/refunds', refunds.createRefund],
  ['GET', '/v1/disputes', disputes.listDisputes],
  ['GET', '/v1/disputes/:id', disputes.retrieveDispute],
  ['POST', '/v1/disputes/:id', disputes.updateDispute],
  ['GET', '/v1/events', events.listEvents],
  ['GET', '/v1/webhook_endpoints', endpoints.listWebhookEndpoints],
  ['POST', '/v1/webhook_endpoints', endpoints.createWebhookEndpoint],
  ['POST', '/v1/webhook_endpoints/:id', endpoints.updateWebhookEndpoint],
  ['DELETE', '/v1/webhook_endpoints/:id', endpoints.deleteWebhookEndpoint],
];
