import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import type { Setup } from '../setup.ts';
import { accountId, graphError, reportDelivery } from './graph.ts';
import { TemplateMessage, type Templates } from './templates.ts';

const OutgoingText = v.object({ body: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)) });
const Outgoing = v.intersect([
  v.object({ messaging_product: v.literal('whatsapp'), to: v.pipe(v.string(), v.nonEmpty()) }),
  v.variant('type', [
    v.object({ type: v.literal('template'), template: TemplateMessage }),
    v.object({ type: v.optional(v.literal('text'), 'text'), text: OutgoingText }),
  ]),
]);

const windowMs = 24 * 3_600_000;

/** WhatsApp's Cloud API, limited to sending templates and texts, and to the account's own data. */
export function createWhatsapp(setup: Setup, templates: Templates): Hono {
  const { phones, secrets } = setup;
  const phoneNumberId = secrets.WHATSAPP_PHONE_NUMBER_ID;
  const token = secrets.WHATSAPP_TOKEN;
  const app = new Hono().basePath('/:version{v\\d+\\.\\d+}');

  app.use(async (c, next) => {
    if (c.req.header('authorization') !== `Bearer ${token}`) throw graphError(190);
    await next();
  });
  app.post('/:id/messages', async (c) => {
    requireObject(c.req.param('id'), phoneNumberId);
    const message = await readMessage(c);
    const to = message.to.replace(/[\s+().-]/g, '');
    if (!/^\d{5,20}$/.test(to)) throw graphError(131009, 'to is no phone number');
    if (message.type === 'text' && Date.now() - (phones.find(to)?.lastWroteAt ?? 0) > windowMs)
      throw graphError(131047, 'More than 24 hours have passed since the recipient last wrote');
    const rendered = message.type === 'text' ? { text: message.text.body } : templates.render(message.template);
    const id = `wamid.${crypto.randomUUID().replaceAll('-', '')}`;
    phones.add(to, { from: 'solace', ...rendered });
    reportDelivery(setup, id, to);
    return c.json({
      messaging_product: 'whatsapp',
      contacts: [{ input: message.to, wa_id: to }],
      messages: [{ id, message_status: 'accepted' }],
    });
  });

  app.get('/debug_token', (c) => {
    const scopes = ['whatsapp_business_management', 'whatsapp_business_messaging'];
    const granular = scopes.map((scope) => ({ scope, target_ids: [accountId] }));
    const isValid = c.req.query('input_token') === token;
    return c.json({ data: { is_valid: isValid, expires_at: 0, scopes, granular_scopes: granular } });
  });
  app.get('/:id', (c) => {
    requireObject(c.req.param('id'), phoneNumberId);
    return c.json({ verified_name: 'Solace', display_phone_number: '+1 555-010-0199', id: phoneNumberId });
  });
  app.get('/:id/message_templates', (c) => {
    requireObject(c.req.param('id'), accountId);
    const found = templates.list().filter((template) => template.name.includes(c.req.query('name') ?? ''));
    return c.json({ data: found.map((template) => ({ ...template, category: 'AUTHENTICATION' })), paging: {} });
  });
  return app;
}

async function readMessage(c: Context) {
  const { success, output, issues } = v.safeParse(Outgoing, await c.req.json().catch(() => undefined));
  if (success) return output;
  throw graphError(100, `${v.getDotPath(issues[0]) ?? 'The body'}: ${issues[0].message}`);
}

/** Refuses an id of another account. */
function requireObject(id: string, known: string): void {
  if (id !== known) throw graphError(100, `Object with ID '${id}' does not exist`, 'GraphMethodException');
}
