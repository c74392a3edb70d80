import { type Context, Hono } from 'hono';
import type { Phones } from '../phones.ts';
import { createAccount, requireObject, withToken } from './account.ts';
import { createHmac } from 'node:crypto';

export type WhatsappSettings = {
  phones: Phones;
  phoneNumberId: string;
  token: string;
  template: Template;
  report: (sent: Sent, delivered: boolean) => void;
};

type Outgoing = {
  messaging_product?: unknown;
  to?: unknown;
  type?: unknown;
  text?: { body?: unknown };
  template?: Parameters<typeof renderTemplate>[1];
};

const windowMs = 24 * 3_600_000;

/** WhatsApp's Cloud API, limited to sending templates and texts. */
export function createWhatsapp({ phones, phoneNumberId, token, template, report }: WhatsappSettings): Hono {
  const app = new Hono();
  app.route('/', createAccount({ phoneNumberId, token, template }));
  app.post('/:version{v\\d+\\.\\d+}/:id/messages', withToken(token), async (c) => {
    requireObject(c.req.param('id'), phoneNumberId);
    const message = await readBody(c);
    const to = recipient(message);
    const known = phones.find(to);
    const rendered = render(message, template, known?.lastWroteAt);
    const id = `wamid.${crypto.randomUUID().replaceAll('-', '')}`;
    const delivered = known?.unreachable !== true;
    if (delivered) phones.add(to, { from: 'solace', ...rendered });
    report({ id, recipient: to }, delivered);
    return c.json({
      messaging_product: 'whatsapp',
      contacts: [{ input: message.to, wa_id: to }],
      messages: [{ id, message_status: 'accepted' }],
    });
  });
  app.onError((error, c) => {
    if (!(error instanceof GraphError)) throw error;
    return c.json(error.toJSON(), error.status as 400);
  });
  return app;
}

async function readBody(c: Context): Promise<Outgoing> {
  const body: unknown = await c.req.json().catch(() => undefined);
  if (typeof body !== 'object' || body === null)
    throw new GraphError(400, 100, 'Invalid parameter', 'The body is no JSON object');
  return body;
}

function recipient({ messaging_product: product, to }: Outgoing): string {
  if (product !== 'whatsapp') throw new GraphError(400, 100, 'The parameter messaging_product is required.');
  if (typeof to !== 'string' || to === '') throw new GraphError(400, 100, 'The parameter to is required.');
  const digits = to.replace(/[\s+().-]/g, '');
  if (!/^\d{5,20}$/.test(digits))
    throw new GraphError(400, 131009, 'Parameter value is not valid', 'to is no phone number');
  return digits;
}

function render({ type = 'text', text, template: wanted }: Outgoing, template: Template, lastWroteAt = 0) {
  if (type === 'template') return renderTemplate(template, wanted);
  if (type !== 'text') throw new GraphError(400, 100, 'Invalid parameter', `type ${String(type)} is not sent here`);
  const body = text?.body;
  if (typeof body !== 'string' || body === '' || body.length > 4096)
    throw new GraphError(400, 100, 'Invalid parameter', 'text.body needs 1 to 4096 characters');
  if (Date.now() - lastWroteAt > windowMs)
    throw new GraphError(
      400,
      131047,
      'Re-engagement message',
      'More than 24 hours have passed since the recipient last wrote',
    );
  return { text: body };
}

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
function renderTemplate(known: Template, message: TemplateMessage | undefined): { text: string; code: string } {
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
