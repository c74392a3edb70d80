import { type Context, Hono } from 'hono';
import type { Phones } from '../phones.ts';
import { createAccount, requireObject, withToken, type TemplateMessage, type Templates } from './account.ts';
import { GraphError, type Sent } from './graph.ts';

export type WhatsappSettings = {
  phones: Phones;
  phoneNumberId: string;
  token: string;
  templates: Templates;
  report: (sent: Sent, delivered: boolean) => void;
};

type Outgoing = {
  messaging_product?: unknown;
  to?: unknown;
  type?: unknown;
  text?: { body?: unknown };
  template?: TemplateMessage;
};

const windowMs = 24 * 3_600_000;

/** WhatsApp's Cloud API, limited to sending templates and texts. */
export function createWhatsapp({ phones, phoneNumberId, token, templates, report }: WhatsappSettings): Hono {
  const app = new Hono();
  app.route('/', createAccount({ phoneNumberId, token, templates }));
  app.post('/:version{v\\d+\\.\\d+}/:id/messages', withToken(token), async (c) => {
    requireObject(c.req.param('id'), phoneNumberId);
    const message = await readBody(c);
    const to = recipient(message);
    const known = phones.find(to);
    const rendered = render(message, templates, known?.lastWroteAt);
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

function render({ type = 'text', text, template }: Outgoing, templates: Templates, lastWroteAt = 0) {
  if (type === 'template') return templates.render(template);
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
