import { log } from '../lib/log.ts';
import type { Settings } from '../settings.ts';
import { graphUrl } from './graph-url.ts';

const timeoutMs = 5000;

/** Whether WhatsApp accepted a message: yes, no, or unknown since its response was lost. */
export type Delivery = 'taken' | 'refused' | 'unknown';

/** Sends a one-time code as an authentication template with a copy-code button. Never retried: it may have arrived. */
export async function sendCode(settings: Settings, whatsappId: string, code: string): Promise<Delivery> {
  const text = [{ type: 'text', text: code }];
  const message = {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: whatsappId,
    type: 'template',
    template: {
      name: settings.WHATSAPP_TEMPLATE_NAME,
      language: { policy: 'deterministic', code: settings.WHATSAPP_TEMPLATE_LANGUAGE },
      components: [
        { type: 'body', parameters: text },
        { type: 'button', sub_type: 'url', index: '0', parameters: text },
      ],
    },
  };
  try {
    const response = await fetch(`${graphUrl(settings)}/${settings.WHATSAPP_PHONE_NUMBER_ID}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${settings.WHATSAPP_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) await logRefusal(response);
    return response.ok ? 'taken' : 'refused';
  } catch {
    return 'unknown';
  }
}

async function logRefusal(response: Response): Promise<void> {
  const body = await response.json<{ error?: { code?: number } }>().catch(() => null);
  log('error', 'whatsapp_refused', { status: response.status, code: body?.error?.code });
}
