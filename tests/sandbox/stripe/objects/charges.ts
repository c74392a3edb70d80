import type { Stripe } from 'stripe';
import { type Call } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import type { Decline } from '../errors.ts';
import { newId } from '../ids.ts';
import { requireCustomer } from './live-customer.ts';
import type { Charge } from '../types/charges.ts';
import type { PaymentIntent } from '../types/payment-intents.ts';
import type { PaymentMethod } from '../types/payment-methods.ts';
import type { World } from '../types/world.ts';

const untouched = {
  application: null,
  application_fee: null,
  application_fee_amount: null,
  balance_transaction: null,
  calculated_statement_descriptor: 'SOLACE',
  captured: true,
  failure_balance_transaction: null,
  fraud_details: {},
  livemode: false,
  on_behalf_of: null,
  radar_options: {},
  receipt_number: null,
  receipt_url: null,
  review: null,
  shipping: null,
  source: null,
  source_transfer: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  transfer_data: null,
  transfer_group: null,
};

type Attempt = { intent: PaymentIntent; method: PaymentMethod; failure?: Decline | undefined; status?: 'pending' };

/** Records one attempt to charge a payment method; emits `charge.succeeded`, `.pending` or `.failed`. */
export function newCharge(world: World, { intent, method, failure, status }: Attempt): Charge {
  const outcome: Charge['status'] = failure ? 'failed' : (status ?? 'succeeded');
  const charge = {
    ...untouched,
    id: newId('ch_3'),
    object: 'charge' as const,
    amount: intent.amount,
    amount_captured: outcome === 'succeeded' ? intent.amount : 0,
    amount_refunded: 0,
    billing_details: method.billing_details,
    created: world.now(),
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    metadata: intent.metadata,
    outcome: outcomeOf(failure),
    paid: outcome === 'succeeded',
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: { type: method.type, [method.type]: method[method.type] },
    receipt_email: null,
    refunded: false,
    status: outcome,
  };
  world.emit(`charge.${outcome}`, world.charges.insert(charge));
  return charge;
}

function outcomeOf(failure: Decline | undefined) {
  const codes = { advice_code: null, network_advice_code: null, network_decline_code: null };
  if (!failure) {
    const seller = 'Payment complete.';
    const network = 'approved_by_network';
    return {
      ...codes,
      network_status: network,
      reason: null,
      risk_level: 'normal',
      seller_message: seller,
      type: 'authorized',
    };
  }
  const reason = failure.decline_code ?? failure.code;
  const seller_message = 'The bank did not return any further details with this decline.';
  return {
    ...codes,
    network_status: 'declined_by_network',
    reason,
    risk_level: 'normal',
    seller_message,
    type: 'issuer_declined',
  };
}

export function listCharges(world: World, { params }: Call<Stripe.ChargeListParams>) {
  const { customer, payment_intent: intent, created } = params;
  requireCustomer(world, customer);
  const found = world.charges
    .all()
    .filter((charge) => customer === undefined || charge.customer === customer)
    .filter((charge) => intent === undefined || charge.payment_intent === intent)
    .filter((charge) => inRange(charge.created, created));
  return pageOf(found, params, '/v1/charges', world.charges);
}
