import { createHmac } from 'node:crypto';
import type { HTTPException } from 'hono/http-exception';
import { jsonError } from '../controls.ts';
import type { Setup } from '../setup.ts';

const messages = {
  100: 'Invalid parameter',
  190: 'Invalid OAuth access token - Cannot parse access token',
  131008: 'Required parameter is missing',
  131009: 'Parameter value is not valid',
  131047: 'Re-engagement message',
  132000: 'Number of parameters does not match the expected number of params',
  132001: 'Template name does not exist in the translation',
  132015: 'Template is Paused',
  132016: 'Template is Disabled',
};
const statuses: Record<number, 401 | 404> = { 190: 401, 132001: 404 };

/** An error in the format of Meta's Graph API. */
export function graphError(
  code: keyof typeof messages,
  details: string = messages[code],
  type = 'OAuthException',
): HTTPException {
  return jsonError(statuses[code] ?? 400, {
    error: {
      message: `(#${code}) ${messages[code]}`,
      type,
      code,
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: crypto.randomUUID().replaceAll('-', '').slice(0, 23),
    },
  });
}

export const accountId = '100000000000009';
const timeoutMs = 10_000;

/** Sends delivery reports to the webhook, as Meta does after its response; sends none without an app secret. */
export function reportDelivery({ siteUrl, secrets }: Setup, id: string, recipient: string): void {
  const metadata = { display_phone_number: '15550100199', phone_number_id: secrets.WHATSAPP_PHONE_NUMBER_ID };
  const appSecret = secrets.WHATSAPP_APP_SECRET;
  if (!appSecret) return;
  for (const status of ['sent', 'delivered']) {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const statuses = [{ id, status, timestamp, recipient_id: recipient }];
    const value = { messaging_product: 'whatsapp', metadata, statuses };
    const entry = [{ id: accountId, changes: [{ value, field: 'messages' }] }];
    void post(siteUrl, appSecret, JSON.stringify({ object: 'whatsapp_business_account', entry }));
  }
}

async function post(siteUrl: string, appSecret: string, body: string): Promise<void> {
  const signature = createHmac('sha256', appSecret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` };
  const init = { method: 'POST', headers, body, signal: AbortSignal.timeout(timeoutMs) };
  const response = await fetch(`${siteUrl}/api/webhooks/whatsapp`, init).catch(() => null);
  await response?.body?.cancel().catch(() => undefined);
}
