import { Hono, type MiddlewareHandler } from 'hono';
import { GraphError } from './graph.ts';
import type { Template, Templates } from './templates.ts';

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
