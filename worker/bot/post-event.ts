import { postOutside } from '../lib/post-outside.ts';
import { signMessage } from '../lib/standard-webhooks.ts';
import type { Settings } from '../settings.ts';
import type { DeliveryResult } from './delivery-rules.ts';

const timeoutMs = 15_000;
/** Request Timeout, Too Early, Too Many Requests. */
const temporary = new Set([408, 425, 429]);

type Posted = Extract<DeliveryResult, 'delivered' | 'parked' | 'later'>;

export async function postEvent(settings: Settings, id: string, body: string): Promise<Posted> {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = await signMessage(settings.require('BOT_WEBHOOK_SECRET'), {
    id,
    timestamp,
    body,
  });

  try {
    const response = await postOutside(settings.require('BOT_WEBHOOK_URL')!, {
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signature,
      },
      body,
      timeoutMs,
    });
    await response.body?.cancel();
    return resultOf(response);
  } catch {
    return 'later';
  }
}

function resultOf({ ok, status }: Response): Posted {
  if (ok) return 'delivered';
  const isRefusal = status >= 400 && status < 500 && !temporary.has(status);
  return isRefusal ? 'parked' : 'later';
}
