export type TestCard = {
  number: string;
  brand: 'visa' | 'mastercard';
  /** How the hosted pages describe it. */
  note: string;
  /** Refused when it is saved. */
  refused?: true;
  /** Saved, then declined at every charge. */
  declines?: true;
};

/** Stripe's own test numbers. The first one is what a hosted page suggests. */
export const testCards: readonly [TestCard, ...TestCard[]] = [
  { number: '4242424242424242', brand: 'visa', note: 'Visa, works' },
  { number: '5555555555554444', brand: 'mastercard', note: 'Mastercard, works' },
  { number: '4000000000000341', brand: 'visa', note: 'Visa, can be saved but declines every charge', declines: true },
  { number: '4000000000000002', brand: 'visa', note: 'Visa, declined at once', refused: true, declines: true },
];

const byName: Record<string, string> = {
  pm_card_visa: '4242424242424242',
  tok_visa: '4242424242424242',
  pm_card_mastercard: '5555555555554444',
  tok_mastercard: '5555555555554444',
  pm_card_chargeCustomerFail: '4000000000000341',
  tok_chargeCustomerFail: '4000000000000341',
  pm_card_visa_chargeDeclined: '4000000000000002',
  tok_chargeDeclined: '4000000000000002',
};

/** A card by its number, or by the name that Stripe gives its test objects. */
export function findTestCard(given: string): TestCard | undefined {
  const number = byName[given] ?? given.replaceAll(/\D/g, '');
  return testCards.find((card) => card.number === number);
}

export const decline = {
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
} as const;
