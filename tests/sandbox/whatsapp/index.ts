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
    const known = phones.find(to);
    if (message.type === 'text' && Date.now() - (known?.lastWroteAt ?? 0) > windowMs)
      throw graphError(131047, 'More than 24 hours have passed since the recipient last wrote');
    const rendered = message.type === 'text' ? { text: message.text.body } : templates.render(message.template);
    const id = `wamid.${crypto.randomUUID().replaceAll('-', '')}`;
    const delivered = known?.unreachable !== true;
    if (delivered) phones.add(to, { from: 'solace', ...rendered });
    reportDelivery(setup, id, to, delivered);
    return c.json({
      messaging_product: 'whatsapp',
      contacts: [{ input: message.to, wa_id: to }],
      messages: [{ id, message_status: 'accepted' }],
    });
  });

  app.get('/debug_token', (c) => c.json({ data: c.req.query('input_token') === token ? validToken : invalidToken }));
  app.get('/:id', (c) => {
    requireObject(c.req.param('id'), phoneNumberId);
    return c.json({ ...sender, id: phoneNumberId });
  });
  app.get('/:id/message_templates', (c) => {
    requireObject(c.req.param('id'), accountId);
    const { name = '', language } = c.req.query();
    const found = templates
      .list()
      .filter((template) => template.name.includes(name) && (!language || language === template.language));
    const data = found.map((template) => ({ ...template, ...authentication, id: `template-${template.language}` }));
    return c.json({ data, paging: {} });
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

const sender = {
  verified_name: 'Solace',
  code_verification_status: 'VERIFIED',
  display_phone_number: '+1 555-010-0199',
  quality_rating: 'GREEN',
  platform_type: 'CLOUD_API',
  throughput: { level: 'STANDARD' },
};

const scopes = ['whatsapp_business_management', 'whatsapp_business_messaging'];
const validToken = {
  app_id: '100000000000008',
  type: 'SYSTEM_USER',
  application: 'Solace',
  data_access_expires_at: 0,
  expires_at: 0,
  is_valid: true,
  scopes,
  granular_scopes: scopes.map((scope) => ({ scope, target_ids: [accountId] })),
  user_id: '100000000000007',
};
const invalidToken = {
  error: { code: 190, message: 'Invalid OAuth access token' },
  is_valid: false,
  scopes: [],
};

const authentication = {
  category: 'AUTHENTICATION',
  components: [
    { type: 'BODY', text: '*{{1}}* is your verification code.', add_security_recommendation: true },
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Copy code' }] },
  ],
};
