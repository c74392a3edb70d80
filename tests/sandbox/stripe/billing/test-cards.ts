import type { Decline } from '../errors.ts';

export type TestCard = {
  number: string;
  brand: 'visa' | 'mastercard' | 'amex';
  funding?: 'debit' | 'prepaid';
  /** Its description on the hosted pages; cards without one are only for the API. */
  note?: string;
  /** The bank refuses to save it. */
  refused?: Decline;
  /** Saved, then declined at every charge. */
  declines?: true;
  /** Payments need authentication: every time, or until one payment has set the card up. */
  authentication?: 'once' | 'always';
  disputed?: { reason: 'fraudulent' | 'product_not_received'; network_reason_code: string };
};

export const decline: Decline = {
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
};

const refusals = {
  insufficient: {
    code: 'card_declined',
    decline_code: 'insufficient_funds',
    message: 'Your card has insufficient funds.',
  },
  lost: { code: 'card_declined', decline_code: 'lost_card', message: 'Your card was declined.' },
  stolen: { code: 'card_declined', decline_code: 'stolen_card', message: 'Your card was declined.' },
  expired: { code: 'expired_card', param: 'exp_month', message: 'Your card has expired.' },
  cvc: { code: 'incorrect_cvc', param: 'cvc', message: "Your card's security code is incorrect." },
  processing: {
    code: 'processing_error',
    message: 'An error occurred while processing your card. Try again in a little bit.',
  },
} satisfies Record<string, Decline>;

/** Stripe's test numbers. The hosted pages preselect the first one. */
export const testCards: readonly [TestCard, ...TestCard[]] = [
  { number: '4242424242424242', brand: 'visa', note: 'Visa, works' },
  { number: '5555555555554444', brand: 'mastercard', note: 'Mastercard, works' },
  { number: '4000002500003155', brand: 'visa', note: 'Visa, asks for authentication once', authentication: 'once' },
  {
    number: '4000002760003184',
    brand: 'visa',
    note: 'Visa, asks for authentication at every payment',
    authentication: 'always',
  },
  { number: '4000000000000341', brand: 'visa', note: 'Visa, can be saved but declines every charge', declines: true },
  { number: '4000000000000002', brand: 'visa', note: 'Visa, declined at once', refused: decline },
  { number: '378282246310005', brand: 'amex' },
  { number: '4000056655665556', brand: 'visa', funding: 'debit' },
  { number: '5200828282828210', brand: 'mastercard', funding: 'debit' },
  { number: '4000000000009995', brand: 'visa', refused: refusals.insufficient },
  { number: '4000000000009987', brand: 'visa', refused: refusals.lost },
  { number: '4000000000009979', brand: 'visa', refused: refusals.stolen },
  { number: '4000000000000069', brand: 'visa', refused: refusals.expired },
  { number: '4000000000000127', brand: 'visa', refused: refusals.cvc },
  { number: '4000000000000119', brand: 'visa', refused: refusals.processing },
  { number: '4000000000003220', brand: 'visa', authentication: 'always' },
  { number: '4000000000000259', brand: 'visa', disputed: { reason: 'fraudulent', network_reason_code: '10.4' } },
  {
    number: '4000000000002685',
    brand: 'visa',
    disputed: { reason: 'product_not_received', network_reason_code: '13.1' },
  },
];

/** Names of Stripe's test objects, without `pm_card_` or `tok_`. */
const byName: Record<string, string> = {
  visa: '4242424242424242',
  mastercard: '5555555555554444',
  amex: '378282246310005',
  visa_debit: '4000056655665556',
  mastercard_debit: '5200828282828210',
  authenticationRequiredOnSetup: '4000002500003155',
  authenticationRequired: '4000002760003184',
  threeDSecure2Required: '4000000000003220',
  threeDSecureRequired: '4000000000003220',
  chargeCustomerFail: '4000000000000341',
  chargeDeclined: '4000000000000002',
  chargeDeclinedInsufficientFunds: '4000000000009995',
  chargeDeclinedLostCard: '4000000000009987',
  chargeDeclinedStolenCard: '4000000000009979',
  chargeDeclinedExpiredCard: '4000000000000069',
  chargeDeclinedIncorrectCvc: '4000000000000127',
  chargeDeclinedProcessingError: '4000000000000119',
  createDispute: '4000000000000259',
  createDisputeProductNotReceived: '4000000000002685',
};

/** A card by its number, or by the name that Stripe gives its test objects. */
export function findTestCard(given = ''): TestCard | undefined {
  const name = given.replace(/^(pm_card|tok)_/, '');
  const number = byName[name] ?? byName[name.replace(/^visa_/, '')] ?? given.replaceAll(/\D/g, '');
  return testCards.find((card) => card.number === number);
}
