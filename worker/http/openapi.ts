import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { brand } from '../contract/brand.ts';
import { endpoints, type Endpoint } from '../contract/endpoints.ts';
import { problems, type ProblemName } from '../contract/problems.ts';

type Json = Record<string, unknown>;

/** The whole surface as OpenAPI 3.1, from the table of endpoints and its shapes. */
export function openApi(serverUrl: string): Json {
  const paths: Record<string, Json> = {};
  for (const [name, endpoint] of Object.entries(endpoints) as [string, Endpoint][]) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation(name, endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: { title: `${brand.name} API`, version: '1.0.0' },
    servers: [{ url: serverUrl }],
    paths,
    components: { securitySchemes, schemas: { Failure: failureSchema } },
  };
}

const securitySchemes = {
  session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  streamToken: { type: 'apiKey', in: 'query', name: 'token', description: 'A stream ticket or a session token' },
  bot: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-signature',
    description: 'Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature over "id.timestamp.body"',
  },
  stripe: { type: 'apiKey', in: 'header', name: 'stripe-signature' },
};

const failureSchema = {
  type: 'object',
  required: ['success', 'code', 'message'],
  properties: {
    success: { const: false },
    code: { type: 'string', enum: [...new Set(Object.values(problems).map(({ code }) => code))] },
    message: { type: 'string' },
    issues: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

function operation(operationId: string, endpoint: Endpoint): Json {
  const scheme = { user: 'session', bot: 'bot', stripe: 'stripe', public: undefined }[endpoint.access];
  const security = endpoint.tokenInQuery ? 'streamToken' : scheme;
  const body = endpoint.input && {
    required: !endpoint.inputOptional,
    content: { 'application/json': { schema: schemaOf(endpoint.input, 'input') } },
  };
  return {
    operationId,
    summary: endpoint.summary,
    security: security ? [{ [security]: [] }] : [],
    ...(body && { requestBody: body }),
    responses: responses(endpoint),
  };
}

function responses(endpoint: Endpoint): Json {
  const content = endpoint.output
    ? { 'application/json': { schema: schemaOf(endpoint.output, 'output') } }
    : { [endpoint.answers ?? 'application/json']: {} };
  const all: Record<string, Json> = { 200: { description: 'Success', content } };
  const grouped = Map.groupBy(failuresOf(endpoint), (name) => problems[name].status);
  for (const [status, names] of grouped) {
    const told = [...new Set(names)].map((name) => `\`${problems[name].code}\`: ${problems[name].message}`);
    const schema = { $ref: '#/components/schemas/Failure' };
    all[status] = { description: told.join('\n\n'), content: { 'application/json': { schema } } };
  }
  return all;
}

/** Every failure that a call can answer: its own, and those of its access and its body. */
export function failuresOf(endpoint: Endpoint): ProblemName[] {
  const user: ProblemName[] = endpoint.whilePending ? ['unauthenticated'] : ['unauthenticated', 'pendingApproval'];
  const byAccess: Record<Endpoint['access'], ProblemName[]> = {
    public: [],
    user,
    bot: ['invalidBotSignature', 'idReused'],
    stripe: ['invalidStripeSignature'],
  };
  const byBody: ProblemName[] = endpoint.input ? ['invalidBody', 'invalidField', 'notJson'] : [];
  const bySize: ProblemName[] = endpoint.method === 'GET' ? [] : ['bodyTooLarge'];
  return [...byBody, ...byAccess[endpoint.access], ...bySize, ...(endpoint.fails ?? []), 'internal', 'unavailable'];
}

function schemaOf(schema: GenericSchema, typeMode: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, { typeMode, errorMode: 'ignore' });
  return rest;
}
