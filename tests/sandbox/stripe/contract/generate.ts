// Writes requests.json and responses.json from an OpenAPI file of Stripe's: npx node generate.ts <openapi.json>
// requests-by-hand.json contains what the real Stripe accepts (recorded) and the file lacks.
import { readFileSync, writeFileSync } from 'node:fs';
import { routes } from '../api/routes.ts';
import byHand from './requests-by-hand.json' with { type: 'json' };
import type { Fields, Shape } from '../api/decode.ts';

type Schema = {
  $ref?: string;
  type?: string;
  nullable?: boolean;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  'x-open-enum'?: boolean;
  'x-metadata'?: boolean;
  'x-emptyable'?: boolean;
  'x-pruned'?: boolean;
};
type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Operation = { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: Schema }> } };
type OpenApi = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** Objects that the local Stripe does not return: discounts, test clocks, and what is deleted apart from customers. */
const neverReturned = /coupon|discount|promotion_code|test_clock|^deleted_(?!customer|webhook_endpoint)/;

/** Longer lists (countries) are not copied: any text is accepted. The languages of the hosted pages are. */
const longestEnum = 12;

function shapeOf(schema: Schema, side: 'request' | 'response'): Shape {
  const plain = withoutNull(schema, side);
  if (side === 'request' && schema['x-emptyable']) return either([plain, 'empty']);
  if (side === 'response' && schema.nullable) return either([plain, 'null']);
  return plain;
}

function withoutNull(schema: Schema, side: 'request' | 'response'): Shape {
  if (schema['x-pruned']) return 'any';
  if (schema['x-metadata']) return 'metadata';
  if (schema.$ref) return `#${schema.$ref.split('/').at(-1)}`;
  if (schema.allOf?.[0]) return shapeOf(schema.allOf[0], side);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return either(choices.map((choice) => shapeOf(choice, side)));
  if (schema.enum) return enumOf(schema, side);
  if (schema.type === 'array') return [shapeOf(schema.items ?? {}, side)];
  if (schema.type === 'object') return schema.properties ? fieldsOf(schema, side) : 'any';
  return schema.type === 'integer' ? 'number' : (schema.type ?? 'any');
}

function enumOf(schema: Schema, side: 'request' | 'response'): Shape {
  const values = schema.enum ?? [];
  if (typeof values[0] === 'boolean') return 'boolean';
  const isOpen = side === 'response' ? schema['x-open-enum'] : values.length > longestEnum;
  return isOpen ? 'string' : `enum:${values.join('|')}`;
}

function fieldsOf(schema: Schema, side: 'request' | 'response'): Fields {
  const entries = Object.entries(schema.properties ?? {});
  return Object.fromEntries(
    entries.map(([name, field]) => [
      schema.required?.includes(name) ? `${name}!` : name,
      name === 'locale' && side === 'request' ? languagesOf(field) : shapeOf(field, side),
    ]),
  );
}

const languagesOf = ({ enum: values = [] }: Schema) => `enum:${values.join('|')}`;

function either(choices: Shape[]): Shape {
  const flat = choices.flatMap((choice) =>
    typeof choice === 'object' && '|' in choice ? (choice['|'] as Shape[]) : [choice],
  );
  const distinct = flat.filter((choice, index) => flat.indexOf(choice) === index);
  return distinct.length === 1 ? (distinct[0] as Shape) : { '|': distinct };
}

function parametersOf(operation: Operation): Fields {
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const fromQuery = query.map(({ name, required, schema }) => [
    required ? `${name}!` : name,
    shapeOf(schema, 'request'),
  ]);
  return { ...(body ? fieldsOf(body, 'request') : {}), ...Object.fromEntries(fromQuery) };
}

/** One line a call or object, so that a new version of Stripe's shows as the lines that it changes. */
function write(file: string, value: Record<string, unknown>): void {
  const lines = Object.entries(value).map(([name, shape]) => `  ${JSON.stringify(name)}: ${JSON.stringify(shape)}`);
  writeFileSync(new URL(file, import.meta.url), `{\n${lines.join(',\n')}\n}\n`);
}

const api = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as OpenApi;
const requests: Record<string, Fields> = {};
for (const [method, path] of routes) {
  const known = Object.entries(api.paths).find(
    ([name]) => name.replaceAll(/\{\w+\}/g, ':id') === path.replaceAll(/:\w+/g, ':id'),
  );
  const operation = known?.[1][method.toLowerCase()];
  if (!operation && `${method} ${path}` in byHand) continue;
  if (!operation) throw new Error(`${method} ${path} is not in the OpenAPI file`);
  requests[`${method} ${path}`] = parametersOf(operation);
}
write('requests.json', requests);
const responses = Object.entries(api.components.schemas)
  .filter(([name]) => !neverReturned.test(name))
  .map(([name, schema]) => [name, shapeOf(schema, 'response')]);
write('responses.json', Object.fromEntries(responses));
