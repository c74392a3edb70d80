import { Hono, type MiddlewareHandler } from 'hono';
import { GraphError } from './graph.ts';
import type { Store } from '../store.ts';

export type Account = { phoneNumberId: string; token: string; templates: Templates };

const accountId = '100000000000009';
const scopes = ['whatsapp_business_management', 'whatsapp_business_messaging'];

/** The Cloud API's data about a token, its number, and the templates of its account. */
export function createAccount({ phoneNumberId, token, templates }: Account): Hono {
  const app = new Hono();
  app.get('/:version{v\\d+\\.\\d+}/debug_token', withToken(token), (c) =>
    c.json({ data: c.req.query('input_token') === token ? validToken() : invalidToken() }),
  );
  app.get('/:version{v\\d+\\.\\d+}/:id', withToken(token), (c) => {
    requireObject(c.req.param('id'), phoneNumberId);
    return c.json({
      verified_name: 'Solace',
      code_verification_status: 'VERIFIED',
      display_phone_number: '+1 555-010-0199',
      quality_rating: 'GREEN',
      platform_type: 'CLOUD_API',
      throughput: { level: 'STANDARD' },
      id: phoneNumberId,
    });
  });
  app.get('/:version{v\\d+\\.\\d+}/:id/message_templates', withToken(token), (c) => {
    requireObject(c.req.param('id'), accountId);
    const { name = '', language } = c.req.query();
    const found = templates
      .list()
      .filter((template) => template.name.includes(name) && (!language || language === template.language));
    return c.json({ data: found.map(described), paging: {} });
  });
  return app;
}

/** Refuses a call without the account's bearer token. */
export function withToken(token: string): MiddlewareHandler {
  return async function checkToken(c, next) {
    if (c.req.header('authorization') !== `Bearer ${token}`)
      throw new GraphError(401, 190, 'Invalid OAuth access token - Cannot parse access token');
    await next();
  };
}

/** Refuses an id of another account. */
export function requireObject(id: string | undefined, known: string): void {
  if (id !== known)
    throw new GraphError(400, 100, `Object with ID '${id}' does not exist`, undefined, 'GraphMethodException');
}

function validToken() {
  return {
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
}

function invalidToken() {
  return { error: { code: 190, message: 'Invalid OAuth access token' }, is_valid: false, scopes: [] };
}

function described({ name, language, status }: Template) {
  const components = [
    { type: 'BODY', text: '*{{1}}* is your verification code.', add_security_recommendation: true },
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Copy code' }] },
  ];
  return { name, language, status, category: 'AUTHENTICATION', components, id: `template-${language}` };
}

const statuses = ['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED'] as const;
type Status = (typeof statuses)[number];
/** An authentication template in one language. */
export type Template = { name: string; language: string; status: Status };

type Parameter = { type?: string; text?: string };
type Component = { type?: string; sub_type?: string; index?: string | number; parameters?: Parameter[] };
export type TemplateMessage = { name?: string; language?: { code?: string }; components?: Component[] };

/** Meta's text of an authentication template, by language. */
const texts: Record<string, (code: string) => string> = {
  en: (code) => `${code} is your verification code. For your security, do not share this code.`,
  es: (code) => `Tu código de verificación es ${code}. Por tu seguridad, no lo compartas.`,
  pt: (code) => `Seu código de verificação é ${code}. Para sua segurança, não o compartilhe.`,
};

export type Templates = ReturnType<typeof createTemplates>;

/** The account's template, which is approved in each of its languages until `PUT /templates/:language` changes that. */
export function createTemplates(store: Store, { name, languages }: { name: string; languages: string[] }) {
  const statusIn = (language: string) => store.get<Status>('templates', language) ?? 'APPROVED';
  const list = (): Template[] => languages.map((language) => ({ name, language, status: statusIn(language) }));
  const control = new Hono();
  control.put('/templates/:language', async (c) => {
    const { language } = c.req.param();
    const { status } = await c.req.json<{ status: Status }>();
    if (!languages.includes(language) || !statuses.includes(status)) return c.json({ languages, statuses }, 400);
    store.put('templates', language, status);
    return c.json({ language, status });
  });
  return {
    control,
    list,
    /** Renders the template as the handset shows it. */
    render(message: TemplateMessage | undefined): { text: string; code: string } {
      const { components = [] } = message ?? {};
      const { language } = approved(list(), message);
      const shown = onlyText(
        components.find(({ type }) => type?.toLowerCase() === 'body'),
        'body',
      );
      const code = onlyText(components.find(isCopyButton), 'button at index 0');
      if (code.length > 15)
        throw new GraphError(400, 100, 'Invalid parameter', 'The one-time password has more than 15 characters');
      return { text: (texts[language.slice(0, 2)] ?? texts['en']!)(shown), code };
    },
  };
}

/** The template of a message; throws Meta's error if it is missing, not approved, paused or disabled. */
function approved(templates: Template[], { name, language }: TemplateMessage = {}): Template {
  if (!name || !language?.code)
    throw new GraphError(400, 100, 'Invalid parameter', 'template needs name and language.code');
  const found = templates.find((template) => template.name === name && template.language === language.code);
  if (found?.status === 'PAUSED') throw new GraphError(400, 132015, 'Template is Paused');
  if (found?.status === 'DISABLED') throw new GraphError(400, 132016, 'Template is Disabled');
  if (found?.status === 'APPROVED') return found;
  throw new GraphError(
    404,
    132001,
    'Template name does not exist in the translation',
    `template name (${name}) does not exist in ${language.code}`,
  );
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
