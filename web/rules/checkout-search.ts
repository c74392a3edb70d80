export type CheckoutSearch = { session_id?: string };

/** The checkout session that the payment provider adds to the return address. */
export function checkoutSearch({ session_id }: Record<string, unknown>): CheckoutSearch {
  return typeof session_id === 'string' && session_id !== '' ? { session_id } : {};
}
