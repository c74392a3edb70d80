import { createHmac } from 'node:crypto';
import { realSeconds } from '../clock.ts';

const timeoutMs = 10_000;

type Delivery = { url: string; secret: string; event: object };

/**
 * Posts a signed event; returns whether the endpoint accepted it. The signature contains the real time, since
 * receivers compare it with theirs.
 */
export async function postEvent({ url, secret, event }: Delivery): Promise<boolean> {
  const body = JSON.stringify(event, null, 2);
  const at = realSeconds();
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Stripe-Signature': `t=${at},v1=${signature}`,
    'User-Agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
  };
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' }).catch(() => null);
  await response?.body?.cancel().catch(() => undefined);
  return response?.ok === true;
}
