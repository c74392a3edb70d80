import type { Fields } from '../contract/shape.ts';
import { StripeError } from '../errors.ts';
import type { Call, Handler, ApiResponse, Atomically } from './call.ts';
import { decodeFields } from './decode.ts';
import { expand } from './expand.ts';
import type { RequestInfo, World } from '../types/world.ts';

type Request = { info: RequestInfo; fields: Fields; params: object; ids: Record<string, string>; handler: Handler };

const noRequest: RequestInfo = { id: null, idempotency_key: null, unknownCustomers: false };

/** The response to one request. An error rolls back every change, unless its `keep` is set. */
export function runRequest(world: World, atomically: Atomically, request: Request): ApiResponse {
  world.request = request.info;
  try {
    return atomically(customerOf(world, request), () => keeping(() => handle(world, request)));
  } catch (error) {
    if (error instanceof StripeError) return refusal(world, error, request.info.id);
    throw error;
  } finally {
    world.request = noRequest;
  }

  function keeping(work: () => unknown): ApiResponse {
    try {
      return { status: 200, body: work() };
    } catch (error) {
      if (error instanceof StripeError && error.keep) return refusal(world, error, request.info.id);
      throw error;
    }
  }
}

function handle(world: World, { fields, params: given, ids, handler }: Request): unknown {
  const params = decodeFields(fields, given) as { expand?: string[] };
  const found = handler(world, { params, ids } as Call<never>);
  return expand(world, found, params.expand ?? []);
}

/** The parameters that lead to the customer whose clock applies to a request. */
const references = ['customer', 'subscription', 'from_subscription', 'invoice', 'payment_intent', 'charge'];

function customerOf(world: World, { ids, params }: Request): string {
  const given = params as Record<string, unknown>;
  const named = [ids['id'], ...references.map((name) => given[name])];
  return named.map((id) => (typeof id === 'string' ? world.ownerOf(id) : '')).find((id) => id !== '') ?? '';
}

function refusal(world: World, { status, details }: StripeError, requestId: string | null): ApiResponse {
  const doc = details.code && { doc_url: `https://stripe.com/docs/error-codes/${details.code.replaceAll('_', '-')}` };
  const log = `https://dashboard.stripe.com/test/logs/${requestId}`;
  return { status, body: { error: expand(world, { ...details, ...doc, request_log_url: log }, []) } };
}
