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

export type Template = { name: string; language: string };

type Parameter = { type?: string; text?: string };
type Component = { type?: string; sub_type?: string; index?: string | number; parameters?: Parameter[] };
type TemplateMessage = { name?: string; language?: { code?: string }; components?: Component[] };

/** Renders an authentication template as the handset shows it. */
export function renderTemplate(known: Template, message: TemplateMessage | undefined): { text: string; code: string } {
  const { name, language, components = [] } = message ?? {};
  if (!name || !language?.code)
    throw new GraphError(400, 100, 'Invalid parameter', 'template needs name and language.code');
  if (name !== known.name || language.code !== known.language)
    throw new GraphError(
      404,
      132001,
      'Template name does not exist in the translation',
      `template name (${name}) does not exist in ${language.code}`,
    );
  const shown = onlyText(
    components.find(({ type }) => type?.toLowerCase() === 'body'),
    'body',
  );
  const copied = onlyText(components.find(isCopyButton), 'button at index 0');
  if (copied.length > 15)
    throw new GraphError(400, 100, 'Invalid parameter', 'The one-time password has more than 15 characters');
  return { text: `${shown} is your verification code. For your security, do not share this code.`, code: copied };
}

function isCopyButton({ type, sub_type: kind, index }: Component): boolean {
  return type?.toLowerCase() === 'button' && kind?.toLowerCase() === 'url' && String(index) === '0';
}

function onlyText(component: Component | undefined, where: string): string {
  const parameters = component?.parameters ?? [];
  if (parameters.length !== 1)
    throw new GraphError(
      400,
      132000,
      'Number of parameters does not match the expected number of params',
      `${where}: number of localizable_params (${parameters.length}) does not match the expected number of params (1)`,
    );
  const [parameter] = parameters;
  if (parameter?.type !== 'text' || typeof parameter.text !== 'string' || parameter.text === '')
    throw new GraphError(
      400,
      131008,
      'Required parameter is missing',
      `${where}: parameter of type text is missing text`,
    );
  return parameter.text;
}
