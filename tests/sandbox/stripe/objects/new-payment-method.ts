import { newId } from '../ids.ts';
import type { TestCard } from '../billing/test-cards.ts';
import type { Metadata } from '../types/metadata.ts';
import type { PaymentMethod } from '../types/payment-methods.ts';
import type { World } from '../types/world.ts';

const untouched = { allow_redisplay: 'unspecified', customer_account: null, livemode: false };
const noAddress = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };

function base(world: World, metadata: Metadata) {
  return {
    ...untouched,
    id: newId('pm_1'),
    object: 'payment_method' as const,
    billing_details: { address: noAddress, email: null, name: null, phone: null, tax_id: null },
    created: world.now(),
    customer: null,
    metadata,
  };
}

/** A new card without a customer. */
export function newPaymentMethod(world: World, card: TestCard, metadata: Metadata = {}): PaymentMethod {
  return world.paymentMethods.insert({
    ...base(world, metadata),
    card: cardOf(world, card),
    type: 'card',
    _: { number: card.number, declines: null, isSetUp: false, isUsed: false },
  });
}

function cardOf(world: World, card: TestCard) {
  return {
    brand: card.brand,
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'unchecked' },
    country: 'US',
    display_brand: card.brand,
    exp_month: 12,
    exp_year: new Date(world.now() * 1000).getUTCFullYear() + 3,
    fingerprint: `fp${card.number.slice(-14)}`,
    funding: card.funding ?? 'credit',
    generated_from: null,
    last4: card.number.slice(-4),
    networks: { available: [card.brand], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: null,
  };
}

/** A new bank account without a customer; its payments settle days later. */
export function newBankAccount(world: World): PaymentMethod {
  return world.paymentMethods.insert({
    ...base(world, {}),
    type: 'us_bank_account',
    us_bank_account: {
      account_holder_type: 'individual',
      account_type: 'checking',
      bank_name: 'STRIPE TEST BANK',
      financial_connections_account: null,
      fingerprint: 'fpbank6789',
      last4: '6789',
      networks: { preferred: 'ach', supported: ['ach'] },
      routing_number: '110000000',
      status_details: null,
    },
    _: { number: '000123456789', declines: null, isSetUp: true, isUsed: false },
  });
}
