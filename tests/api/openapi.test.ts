import { expect, it } from 'vitest';
import { endpoints, type Endpoint } from '../../worker/contract/endpoints.ts';
import { call } from './support/api.ts';

it('describes every call of the table, with its body and every status it can answer', async () => {
  const { status, body } = await call('GET', '/api/openapi.json');
  expect(status).toBe(200);
  expect(body.openapi).toBe('3.1.0');
  const described = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const table = (Object.entries(endpoints) as [string, Endpoint][]).map(
    ([name, endpoint]) => [name, { ...endpoint, path: endpoint.path.replaceAll(/:(\w+)/g, '{$1}') }] as const,
  );
  expect(described.toSorted()).toEqual(table.map(([, { method, path }]) => `${method} ${path}`).toSorted());
  for (const [name, { method, path, input, access, whilePending }] of table) {
    const operation = body.paths[path][method.toLowerCase()];
    expect(operation.operationId).toBe(name);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', '500', '503']));
    if (input) expect(operation.requestBody.content['application/json'].schema.type).toBe('object');
    if (access === 'user' || access === 'bot') expect(operation.responses).toHaveProperty('401');
    if (access === 'user' && !whilePending) expect(operation.responses).toHaveProperty('403');
    if (access === 'bot') expect(operation.responses).toHaveProperty('409');
  }
  expect(body.paths['/api/bot/usage'].post.requestBody.content['application/json'].schema).toMatchObject({
    required: ['phone'],
    additionalProperties: false,
    properties: { count: { type: 'integer', minimum: 1, maximum: 100, default: 1 } },
  });
});
