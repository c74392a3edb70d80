import { createHmac } from 'node:crypto';

export type StatusSettings = { siteUrl: string; phoneNumberId: string; appSecret: string | undefined };
export type Sent = { id: string; recipient: string };

const timeoutMs = 10_000;

/** Sends delivery reports to the webhook, as Meta does after its response; sends none without an app secret. */
export function createStatuses({ siteUrl, phoneNumberId, appSecret }: StatusSettings) {
  return function report(sent: Sent, delivered: boolean): void {
    if (!appSecret) return;
    const statuses = delivered ? [statusOf(sent, 'sent'), statusOf(sent, 'delivered')] : [failureOf(sent)];
    for (const status of statuses) void post(siteUrl, appSecret, notification(phoneNumberId, status));
  };
}

async function post(siteUrl: string, appSecret: string, body: string): Promise<void> {
  const signature = createHmac('sha256', appSecret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` };
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(`${siteUrl}/api/webhooks/whatsapp`, { method: 'POST', headers, body, signal }).catch(
    () => null,
  );
  await response?.body?.cancel().catch(() => undefined);
}

function notification(phoneNumberId: string, status: object): string {
  const metadata = { display_phone_number: '15550100199', phone_number_id: phoneNumberId };
  const value = { messaging_product: 'whatsapp', metadata, statuses: [status] };
  const entry = [{ id: '100000000000009', changes: [{ value, field: 'messages' }] }];
  return JSON.stringify({ object: 'whatsapp_business_account', entry });
}

function statusOf({ id, recipient }: Sent, status: string) {
  return { id, status, timestamp: String(Math.floor(Date.now() / 1000)), recipient_id: recipient };
}

function failureOf(sent: Sent) {
  const error = { code: 131_026, title: 'Message undeliverable', message: 'Message undeliverable' };
  return { ...statusOf(sent, 'failed'), errors: [{ ...error, error_data: { details: 'Message Undeliverable.' } }] };
}

/** An error in the format of Meta's Graph API. */
export class GraphError extends Error {
  readonly status: number;
  readonly code: number;
  readonly details: string;
  readonly type: string;

  constructor(status: number, code: number, message: string, details = message, type = 'OAuthException') {
    super(`(#${code}) ${message}`);
    this.status = status;
    this.code = code;
    this.details = details;
    this.type = type;
  }

  toJSON() {
    return {
      error: {
        message: this.message,
        type: this.type,
        code: this.code,
        error_data: { messaging_product: 'whatsapp', details: this.details },
        fbtrace_id: crypto.randomUUID().replaceAll('-', '').slice(0, 23),
      },
    };
  }
}
