import { type Call, idOf, type World, liveCustomer } from '../world.ts';
import newObjects from '../parameters/new-objects.json' with { type: 'json' };
import { pageOf, type PageParams, newId } from '../table.ts';
import { invalid, declined, missing, type Decline } from '../api/errors.ts';
import type { PaymentMethod, RefundOutcome } from '../objects.ts';

export function createPaymentMethod(
  world: World,
  { params }: Call<{ card: { token: string } }>,
): PaymentMethod {
  const { token } = params.card;
  const card = findTestCard(token);
  if (!card) throw invalid(`No such token: '${token}'`, 'card[token]', 'resource_missing');
  return newPaymentMethod(world, card);
}

export function attachPaymentMethod(
  world: World,
  call: Call<{ customer?: string }>,
): PaymentMethod {
  const { customer } = call.params;
  if (!customer)
    throw invalid('Must provide customer or customer_account.', undefined, 'parameter_missing');
  return attach(world, idOf(call), liveCustomer(world, customer, 'customer').id);
}

export function detachPaymentMethod(world: World, call: Call): PaymentMethod {
  const { id, customer } = world.paymentMethods.get(idOf(call));
  if (!customer)
    throw invalid(
      'The payment method you provided is not attached to a customer so detachment is impossible.',
    );
  world.customers.change(customer, ({ invoice_settings: settings }) => {
    if (settings.default_payment_method === id) settings.default_payment_method = null;
  });
  return detach(world, id);
}

/** Detaches a payment method from its customer; it cannot be used again. */
export function detach(world: World, id: string): PaymentMethod {
  const { _: internal } = world.paymentMethods.get(id);
  const detached = { customer: null, _: { ...internal, isUsed: true } };
  return world.paymentMethods.change(id, detached, 'payment_method.detached');
}

/** Recorded: without a customer the list is empty; an unknown or deleted one is refused. */
export function listPaymentMethods(world: World, call: Call<PageParams & { customer?: string }>) {
  const { customer } = call.params;
  return methodsOf(world, customer && liveCustomer(world, customer, 'customer').id, call);
}

export function listCustomerPaymentMethods(world: World, call: Call<PageParams>) {
  return methodsOf(world, liveCustomer(world, idOf(call)).id, call);
}

function methodsOf(world: World, customer: string | undefined, { params, path }: Call<PageParams>) {
  const own = world.paymentMethods.all().filter((method) => method.customer === customer);
  return pageOf(own, params, path, world.paymentMethods);
}

/** Throws unless a payment method belongs to the customer. */
export function ownMethod(
  world: World,
  customer: string,
  id: string,
  param: string,
): PaymentMethod {
  const method = world.paymentMethods.get(id, param);
  if (method.customer === customer) return method;
  const message = `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`;
  throw invalid(message, param, 'resource_missing');
}

/** A new card without a customer. */
export function newPaymentMethod(world: World, card: TestCard): PaymentMethod {
  return world.paymentMethods.insert({
    id: newId('pm_1'),
    object: 'payment_method',
    card: cardOf(world, card),
    created: world.now(),
    type: 'card',
    _: {
      number: card.number,
      declines: null,
      isSetUp: false,
      isUsed: false,
    },
  });
}

function cardOf(world: World, { number }: TestCard) {
  const brand = number.startsWith('5') ? 'mastercard' : 'visa';
  return {
    ...newObjects['payment_method.card'],
    brand,
    display_brand: brand,
    exp_year: new Date(world.now() * 1000).getUTCFullYear() + 3,
    fingerprint: `fp${number.slice(-14)}`,
    last4: number.slice(-4),
    networks: { available: [brand], preferred: null },
  };
}

/** The payment method of an id; a test card's name such as `pm_card_visa` creates one. `param` as in `Table.get`. */
export function methodNamed(world: World, id: string, param?: string): PaymentMethod {
  const named = id.startsWith('pm_card_') ? findTestCard(id) : undefined;
  if (named) return newPaymentMethod(world, named);
  const found = world.paymentMethods.find(id);
  if (found) return found;
  throw missing('PaymentMethod', id, param, 'payment_method');
}

/** Saves a payment method for a customer. Throws 402 when its bank refuses it. */
export function attach(world: World, id: string, customer: string, param?: string): PaymentMethod {
  const method = methodNamed(world, id, param);
  if (method.customer === customer) return method;
  if (method.customer)
    throw invalid('The payment method you provided has already been attached to a customer.');
  if (method._.isUsed) {
    throw invalid(
      'This PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, and may not be used again.',
    );
  }
  const refused = findTestCard(method._.number)?.refused;
  if (refused) throw declined(refused, false);
  return world.paymentMethods.change(method.id, { customer }, 'payment_method.attached');
}

/** Whether a payment needs authentication: always, or until the card is set up. */
export function needsAuthentication({ _: { number, isSetUp } }: PaymentMethod): boolean {
  const authentication = findTestCard(number)?.authentication;
  return authentication === 'always' || (authentication === 'once' && !isSetUp);
}

/** Allows later charges without the cardholder. */
export function markSetUp(world: World, method: string): void {
  world.paymentMethods.change(method, ({ _ }) => void (_.isSetUp = true), null);
}

export type TestCard = {
  number: string;
  /** The name that Stripe gives its test objects, without `pm_card_` or `tok_`. */
  name?: string;
  /** Its description on the hosted pages; cards without one are only for the API. */
  note?: string;
  /** The bank refuses to save it. */
  refused?: Decline;
  /** Saved, then declined at every charge. */
  declines?: true;
  /** Payments need authentication: every time, or until one payment has set the card up. */
  authentication?: 'once' | 'always';
  /** Its holder disputes every payment. */
  disputes?: true;
  /** How a refund to it goes, if not at once. */
  refunds?: RefundOutcome;
};

export const decline: Decline = {
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
};

const insufficient = {
  ...decline,
  decline_code: 'insufficient_funds',
  message: 'Your card has insufficient funds.',
};
const expired: Decline = {
  code: 'expired_card',
  param: 'exp_month',
  message: 'Your card has expired.',
};

/** Stripe's test numbers. The hosted pages preselect the first one. */
export const testCards: readonly [TestCard, ...TestCard[]] = [
  { number: '4242424242424242', name: 'visa', note: 'Visa, works' },
  { number: '5555555555554444', note: 'Mastercard, works' },
  {
    number: '4000002500003155',
    note: 'Visa, asks for authentication once',
    authentication: 'once',
  },
  {
    number: '4000002760003184',
    name: 'authenticationRequired',
    note: 'Visa, asks for authentication at every payment',
    authentication: 'always',
  },
  {
    number: '4000000000000341',
    name: 'chargeCustomerFail',
    note: 'Visa, can be saved but declines every charge',
    declines: true,
  },
  {
    number: '4000000000000002',
    name: 'chargeDeclined',
    note: 'Visa, declined at once',
    refused: decline,
  },
  {
    number: '4000000000009995',
    name: 'chargeDeclinedInsufficientFunds',
    refused: insufficient,
  },
  {
    number: '4000000000000069',
    name: 'chargeDeclinedExpiredCard',
    refused: expired,
  },
  {
    number: '4000000000000259',
    name: 'createDispute',
    disputes: true,
  },
  {
    number: '4000000000007726',
    name: 'pendingRefund',
    refunds: 'pends',
  },
  {
    number: '4000000000005126',
    name: 'refundFail',
    refunds: 'fails',
  },
];

/** A card by its number, or by the name that Stripe gives its test objects. */
export function findTestCard(given: string): TestCard | undefined {
  const name = given.replace(/^(pm_card|tok)_(visa_)?/, '');
  return testCards.find((card) => card.number === given || card.name === name);
}
