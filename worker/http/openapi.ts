import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { brand } from '../contract/brand.ts';
import { audioTypes } from '../contract/chat-limits.ts';
import { endpoints, type Endpoint } from '../contract/endpoints.ts';
import { apiErrors, type ErrorName } from '../contract/errors.ts';

type Json = Record<string, unknown>;

export function openApi(serverUrl: string): Json {
  const paths: Record<string, Json> = {};
  for (const [name, endpoint] of Object.entries(endpoints) as [string, Endpoint][]) {
    if (endpoint.access === 'support') continue;
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: operation(name, endpoint),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: `${brand.name} API`, version: '1.0.0' },
    servers: [{ url: serverUrl }],
    paths,
    components: { securitySchemes, schemas: { ErrorBody: failureSchema } },
  };
}

const securitySchemes = {
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
  },
  streamToken: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'A stream ticket or a session token',
  },
  bot: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-signature',
    description:
      'Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature over "id.timestamp.body"',
  },
  stripe: {
    type: 'apiKey',
    in: 'header',
    name: 'stripe-signature',
  },
  whatsapp: {
    type: 'apiKey',
    in: 'header',
    name: 'x-hub-signature-256',
  },
};

const failureSchema = {
  type: 'object',
  required: ['success', 'code', 'message'],
  properties: {
    success: { const: false },
    code: {
      type: 'string',
      enum: [...new Set(Object.values(apiErrors).map(({ code }) => code))],
    },
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
  const scheme = {
    user: 'session',
    bot: 'bot',
    stripe: 'stripe',
    whatsapp: 'whatsapp',
    public: undefined,
    support: undefined,
  }[endpoint.access];
  const security = endpoint.tokenInQuery ? 'streamToken' : scheme;
  const body = requestBodyOf(endpoint);
  return {
    operationId,
    summary: endpoint.summary,
    security: security ? [{ [security]: [] }] : [],
    ...parametersOf(endpoint),
    ...(body && { requestBody: body }),
    responses: responses(endpoint),
  };
}

function requestBodyOf({ input, inputOptional, recording }: Endpoint): Json | undefined {
  if (recording) return { required: true, content: binary(audioTypes) };
  if (!input) return undefined;
  const schema = schemaOf(input, 'input');
  const named = 'businessUserId' in input.entries && {
    anyOf: [{ required: ['phone'] }, { required: ['businessUserId'] }],
  };
  return {
    required: !inputOptional,
    content: { 'application/json': { schema: { ...schema, ...named } } },
  };
}

/** In OpenAPI 3.1 a body of bytes has no schema. */
function binary(types: readonly string[]): Json {
  return Object.fromEntries(types.map((type) => [type, {}]));
}

function parametersOf({ query, params }: Endpoint): Json {
  const parameters = [...listParameters('path', params), ...listParameters('query', query)];
  return parameters.length > 0 ? { parameters } : {};
}

function listParameters(place: 'path' | 'query', shape: Endpoint['query']): Json[] {
  if (!shape) return [];
  const { properties, required = [] } = toJsonSchema(shape, {
    typeMode: 'input',
    errorMode: 'ignore',
  });
  return Object.entries(properties ?? {}).map(([name, schema]) => {
    return {
      name,
      in: place,
      required: required.includes(name),
      schema,
    };
  });
}

function responses(endpoint: Endpoint): Json {
  const content = endpoint.output
    ? { 'application/json': { schema: schemaOf(endpoint.output, 'output') } }
    : binary([endpoint.mediaType ?? 'application/json'].flat());
  const all: Record<string, Json> = { 200: { description: 'Success', content } };
  const grouped = Map.groupBy(failuresOf(endpoint), (name) => apiErrors[name].status);
  for (const [status, names] of grouped) {
    const told = [...new Set(names)].map(
      (name) => `\`${apiErrors[name].code}\`: ${apiErrors[name].message}`,
    );
    const schema = { $ref: '#/components/schemas/ErrorBody' };
    all[status] = {
      description: told.join('\n\n'),
      content: { 'application/json': { schema } },
    };
  }
  return all;
}

function failuresOf(endpoint: Endpoint): ErrorName[] {
  const user: ErrorName[] = [
    'unauthenticated',
    ...(endpoint.whilePending ? [] : (['pendingApproval'] as const)),
    ...(endpoint.needsSignIn ? (['signInNeeded'] as const) : []),
    'rateLimited',
  ];

  const byAccess: Record<Endpoint['access'], ErrorName[]> = {
    public: ['rateLimited'],
    user,
    bot: ['invalidBotSignature', 'idReused'],
    stripe: ['invalidStripeSignature'],
    whatsapp: ['invalidBotSignature'],
    support: ['unauthenticated'],
  };

  const byBody: ErrorName[] = endpoint.input ? ['invalidBody', 'invalidField', 'notJson'] : [];
  const byRecording: ErrorName[] = endpoint.recording ? ['invalidBody', 'notAudio'] : [];
  const byParameters: ErrorName[] =
    !endpoint.input && (endpoint.query || endpoint.params) ? ['invalidField'] : [];
  const bySize: ErrorName[] = endpoint.method === 'GET' ? [] : ['bodyTooLarge'];

  return [
    ...byBody,
    ...byRecording,
    ...byParameters,
    ...byAccess[endpoint.access],
    ...bySize,
    ...(endpoint.fails ?? []),
    'internal',
    'unavailable',
  ];
}

function schemaOf(schema: GenericSchema, typeMode: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    typeMode,
    errorMode: 'ignore',
  });
  return rest;
}
