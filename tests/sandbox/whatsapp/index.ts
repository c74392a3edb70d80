import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import type { createStatuses } from './statuses.ts';
import { jsonError, controlError, readControl } from '../stripe/control.ts';
import { type Setup } from '../setup.ts';

const messages = {
  100: 'Invalid parameter',
  190: 'Invalid OAuth access token - Cannot parse access token',
  131008: 'Required parameter is missing',
  131009: 'Parameter value is not valid',
  132000: 'Number of parameters does not match the expected number of params',
  132001: 'Template name does not exist in the translation',
  132015: 'Template is Paused',
  132016: 'Template is Disabled',
};
const httpStatuses: Record<number, 401 | 404> = { 190: 401, 132001: 404 };

/** An error in the format of Meta's Graph API. */
function graphError(
  code: keyof typeof messages,
  details: string = messages[code],
  type = 'OAuthException',
) {
  return jsonError(httpStatuses[code] ?? 400, {
    error: {
      message: `(#${code}) ${messages[code]}`,
      type,
      code,
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: crypto.randomUUID().replaceAll('-', '').slice(0, 23),
    },
  });
}

const accountId = '100000000000009';

const statuses = ['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED'] as const;
/** An authentication template in one language. */
type Template = {
  name: string;
  language: string;
  status: (typeof statuses)[number];
};
const StatusControl = v.object({ status: v.picklist(statuses) });

const kind = v.pipe(v.string(), v.toLowerCase());
const Component = v.object({
  type: kind,
  sub_type: v.optional(kind),
  index: v.optional(v.union([v.string(), v.number()])),
  parameters: v.optional(
    v.array(
      v.object({
        type: v.optional(v.string()),
        text: v.optional(v.string()),
      }),
    ),
    [],
  ),
});
const TemplateMessage = v.object({
  name: v.pipe(v.string(), v.nonEmpty()),
  language: v.object({ code: v.pipe(v.string(), v.nonEmpty()) }),
  components: v.optional(v.array(Component), []),
});
type Message = v.InferOutput<typeof TemplateMessage>;

/** Meta's text of an authentication template, by language. */
const texts: Record<string, (code: string) => string> = {
  en: (code) => `${code} is your verification code. For your security, do not share this code.`,
  es: (code) => `Tu código de verificación es ${code}. Por tu seguridad, no lo compartas.`,
  pt: (code) => `Seu código de verificação é ${code}. Para sua segurança, não o compartilhe.`,
};

type Templates = ReturnType<typeof createTemplates>;
type Statuses = ReturnType<typeof createStatuses>;

/** The account's template, which is approved in each of its languages until `PUT /templates/:language` changes that. */
export function createTemplates({ store, secrets }: Setup) {
  const name = secrets.WHATSAPP_TEMPLATE_NAME;
  const languages = secrets.WHATSAPP_TEMPLATE_LANGUAGE.trim().split(/\s+/);
  const statusIn = (language: string) =>
    store.get<Template['status']>('templates', language) ?? 'APPROVED';
  const list = (): Template[] =>
    languages.map((language) => ({
      name,
      language,
      status: statusIn(language),
    }));
  const control = new Hono();
  control.put('/templates/:language', async (c) => {
    const { language } = c.req.param();
    if (!languages.includes(language))
      throw controlError(400, `The templates are in ${languages.join(', ')}`);
    const { status } = await readControl(c, StatusControl);
    store.put('templates', language, status);
    return c.json({ language, status });
  });
  return {
    control,
    list,
    /** Renders the template as the handset shows it. */
    render(message: Message): { text: string; code: string } {
      const { language } = approved(list(), message);
      const { components } = message;
      const isCopyButton = ({ type, sub_type: kind, index }: v.InferOutput<typeof Component>) =>
        type === 'button' && kind === 'url' && String(index) === '0';
      const body = components.find(({ type }) => type === 'body');
      const shown = onlyText(body, 'body');
      const code = onlyText(components.find(isCopyButton), 'button at index 0');
      if (code.length > 15)
        throw graphError(100, 'The one-time password has more than 15 characters');
      return {
        text: (texts[language.slice(0, 2)] ?? texts['en']!)(shown),
        code,
      };
    },
  };
}

/** The template of a message; throws Meta's error if it is missing, not approved, paused or disabled. */
function approved(templates: Template[], { name, language: { code } }: Message): Template {
  const found = templates.find((template) => template.name === name && template.language === code);
  if (found?.status === 'PAUSED') throw graphError(132015);
  if (found?.status === 'DISABLED') throw graphError(132016);
  if (found?.status === 'APPROVED') return found;
  throw graphError(132001, `template name (${name}) does not exist in ${code}`);
}

function onlyText(component: v.InferOutput<typeof Component> | undefined, where: string): string {
  const { parameters = [] } = component ?? {};
  const [parameter] = parameters;
  if (parameters.length !== 1)
    throw graphError(
      132000,
      `${where}: number of localizable_params (${parameters.length}) does not match the expected number of params (1)`,
    );
  if (parameter?.type !== 'text' || !parameter.text)
    throw graphError(131008, `${where}: parameter of type text is missing text`);
  return parameter.text;
}

const Outgoing = v.object({
  messaging_product: v.literal('whatsapp'),
  to: v.pipe(v.string(), v.nonEmpty()),
  type: v.literal('template'),
  template: TemplateMessage,
  biz_opaque_callback_data: v.optional(v.pipe(v.string(), v.maxLength(512))),
});

/** WhatsApp's Cloud API, limited to sending templates and to the account's own data. */
export function createWhatsapp(
  { phones, secrets }: Setup,
  templates: Templates,
  statuses: Statuses,
): Hono {
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
    // As WhatsApp's own ids, it contains the number.
    const id = `wamid.${btoa(`${to}:${crypto.randomUUID()}`)}`;
    phones.add(to, { from: 'solace', ...templates.render(message.template) }, id);
    statuses.report({
      id,
      number: to,
      callbackData: message.biz_opaque_callback_data,
    });
    return c.json({
      messaging_product: 'whatsapp',
      contacts: [{ input: message.to, wa_id: to }],
      messages: [{ id, message_status: 'accepted' }],
    });
  });

  app.get('/debug_token', (c) => {
    const scopes = ['whatsapp_business_management', 'whatsapp_business_messaging'];
    const granular = scopes.map((scope) => ({
      scope,
      target_ids: [accountId],
    }));
    const isValid = c.req.query('input_token') === token;
    return c.json({
      data: {
        is_valid: isValid,
        expires_at: 0,
        scopes,
        granular_scopes: granular,
      },
    });
  });
  app.get('/:id', (c) => {
    requireObject(c.req.param('id'), phoneNumberId);
    return c.json({
      verified_name: 'Solace',
      display_phone_number: '+1 555-010-0199',
      id: phoneNumberId,
    });
  });
  app.get('/:id/message_templates', (c) => {
    requireObject(c.req.param('id'), accountId);
    const found = templates
      .list()
      .filter((template) => template.name.includes(c.req.query('name') ?? ''));
    return c.json({
      data: found.map((template) => ({
        ...template,
        category: 'AUTHENTICATION',
      })),
      paging: {},
    });
  });
  return app;
}

async function readMessage(c: Context) {
  const { success, output, issues } = v.safeParse(
    Outgoing,
    await c.req.json().catch(() => undefined),
  );
  if (success) return output;
  throw graphError(100, `${v.getDotPath(issues[0]) ?? 'The body'}: ${issues[0].message}`);
}

/** Refuses an id of another account. */
function requireObject(id: string, known: string): void {
  if (id !== known)
    throw graphError(100, `Object with ID '${id}' does not exist`, 'GraphMethodException');
}
