import { createHmac } from 'node:crypto';
import { Hono } from 'hono';
import * as v from 'valibot';
import { businessUserIdOf, numberOf, type Setup } from '../setup.ts';
import { readControl } from '../stripe/control.ts';

const Delivery = v.object({
  /** `none`: WhatsApp reports nothing. */
  status: v.picklist(['delivered', 'failed', 'none']),
});

type Sent = {
  id: string;
  number: string;
  callbackData: string | undefined;
};

/** Meta's codes: sent to a number that has no WhatsApp. */
const undeliverable = { code: 131_026, title: 'Message undeliverable' };

/**
 * Reports what became of a message to the Worker's webhook, signed with the secret of the app. `recipient_user_id` is
 * the id of who holds the number, whatever the message was sent for.
 */
export function createStatuses({ store, phones, siteUrl, secrets }: Setup) {
  const control = new Hono();
  const deliveryTo = (number: string) =>
    store.get<v.InferOutput<typeof Delivery>['status']>('deliveries', number) ?? 'delivered';

  control.put('/phones/:phone/delivery', async (c) => {
    const { status } = await readControl(c, Delivery);
    store.put('deliveries', numberOf(c), status);
    return c.json({ status });
  });

  async function report({ id, number, callbackData }: Sent): Promise<void> {
    const { WHATSAPP_APP_SECRET: secret } = secrets;
    const outcome = deliveryTo(number);
    if (!secret || outcome === 'none') return;
    const status = {
      id,
      timestamp: String(Math.floor(Date.now() / 1000)),
      ...(!phones.find(number)?.hidden && { recipient_id: number }),
      recipient_user_id: businessUserIdOf(number),
      ...(callbackData !== undefined && { biz_opaque_callback_data: callbackData }),
    };
    const statuses = [
      { ...status, status: 'sent' },
      {
        ...status,
        status: outcome,
        ...(outcome === 'failed' && { errors: [undeliverable] }),
      },
    ];
    const value = { messaging_product: 'whatsapp', statuses };
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
    });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    await fetch(`${siteUrl}/api/webhooks/whatsapp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': `sha256=${signature}`,
      },
      body,
      signal: AbortSignal.timeout(15_000),
    });
  }

  return {
    control,
    /** Reports in the background: the Worker may be gone. */
    report: (sent: Sent) => void report(sent).catch(() => undefined),
  };
}
