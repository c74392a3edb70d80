import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import type { Setup } from '../setup.ts';
import { accountId, graphError } from './graph.ts';
import { TemplateMessage, type Templates } from './templates.ts';

const Outgoing = v.object({
  messaging_product: v.literal('whatsapp'),
  to: v.pipe(v.string(), v.nonEmpty()),
  type: v.literal('template'),
  template: TemplateMessage,
});

/** WhatsApp's Cloud API, limited to sending templates and to the account's own data. */
export function createWhatsapp({ phones, secrets }: Setup, templates: Templates): Hono {
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
    phones.add(to, { from: 'solace', ...templates.render(message.template) });
    return c.json({
      messaging_product: 'whatsapp',
      contacts: [{ input: message.to, wa_id: to }],
      messages: [{ id: `wamid.${crypto.randomUUID().replaceAll('-', '')}`, message_status: 'accepted' }],
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
