import type { LocalStripe } from './start-stripe.ts';

export type Reply = { status: number; headers: Headers; body: any };
type Extra = { key?: string; version?: string; secret?: string };

/** Sends a form to the API as it is, without the SDK's checks and retries. */
export function requestOf({ url }: Pick<LocalStripe, 'url'>) {
  return async function request(method: string, path: string, form = '', extra: Extra = {}): Promise<Reply> {
    const isPost = method === 'POST';
    const query = isPost || form === '' ? '' : `?${form}`;
    const response = await fetch(`${url}${path}${query}`, {
      method,
      headers: {
        authorization: `Bearer ${extra.secret ?? 'sk_test_local'}`,
        ...(extra.key !== undefined && { 'idempotency-key': extra.key }),
        ...(extra.version && { 'stripe-version': extra.version }),
        ...(isPost && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(isPost && { body: form }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
}
