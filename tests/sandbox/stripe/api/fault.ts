/** The part of a fault that the local Stripe applies; `fault-injection.ts` applies the rest before it. */
type StripeFault = {
  delayMs: number;
  /** Requests fail with this status, which is stored under their idempotency keys. */
  status?: number;
  unknownCustomer: boolean;
};

export const noFault: StripeFault = { delayMs: 0, unknownCustomer: false };

declare module 'hono' {
  interface ContextVariableMap {
    fault?: StripeFault;
  }
}

/** The `api_error` of a Stripe that fails. */
export function faultResponse(status: number): { status: number; body: object } {
  return { status, body: { error: { type: 'api_error', message: 'Out of order' } } };
}
