import { StatementError, ProtocolError, type Statement, type WireValue } from './protocol.ts';

/** The facts about an SQL text that the engine's Node binding does not provide. */
export type Analysis = {
  /** One entry for each bindable index; null for a bare `?` and for a gap. */
  params: (string | null)[];
  /** The number of statements, without empty ones. */
  statements: number;
};

const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|[:@$][\w$\u0080-\uffff]+|[\w$\u0080-\uffff]+|[^\s\w]/g;
const comment = /^(?:--|\/\*)/;
const parameter = /^(?:\?|[:@$].)/s;
const trigger = /^\s*create\s+(?:temp\s+|temporary\s+)?trigger\b/i;

const known = new Map<string, Analysis>();

/** Finds parameters and statements by the rules of SQLite's tokenizer. */
export function analyze(sql: string): Analysis {
  const seen = known.get(sql);
  if (seen) return seen;
  if (known.size >= 2000) known.clear();
  const analysis = scan(sql);
  known.set(sql, analysis);
  return analysis;
}

function scan(sql: string): Analysis {
  const params: (string | null)[] = [];
  let statements = 0;
  let open = false;
  for (const [token] of sql.matchAll(tokens)) {
    if (comment.test(token)) continue;
    if (!open && token !== ';') statements += 1;
    open = token !== ';';
    if (parameter.test(token)) declare(params, token);
  }
  return { params, statements: trigger.test(sql) ? 1 : statements };
}

function declare(params: (string | null)[], token: string): void {
  if (token === '?') params.push(null);
  else if (token.startsWith('?')) declareNumbered(params, token);
  else if (!params.includes(token)) params.push(token);
}

function declareNumbered(params: (string | null)[], token: string): void {
  const index = Math.min(Number(token.slice(1)), 32_766);
  while (params.length < index) params.push(null);
  params[index - 1] = token;
}

/** The values in the order of their indexes, since the engine's binding crashes the process on unknown names. */
export function bind(sql: string, { args = [], named_args: named = [] }: Statement): Value[] {
  const { params } = analyze(sql);
  if (args.length > 0 && named.length > 0)
    throw new StatementError('ARGS_BOTH_POSITIONAL_AND_NAMED', 'Positional and named arguments cannot stand together');
  if (args.length + named.length > params.length)
    throw new StatementError('ARGS_INVALID', `too many parameters, expected ${params.length}`);
  const byName = new Map(named.map(({ name, value }) => [bare(name), value]));
  return params.map((name, index) => decodeValue(find(name, index, args, byName)));
}

function find(name: string | null, index: number, args: WireValue[], byName: Map<string, WireValue>): WireValue {
  const value = (name === null ? undefined : byName.get(bare(name))) ?? args[index];
  if (value === undefined)
    throw new StatementError('ARGS_INVALID', `value for parameter ${name ?? index + 1} not found`);
  return value;
}

function bare(name: string): string {
  return name.replace(/^[:@$?]/, '');
}

/** A value of the engine: bigint is INTEGER, number is REAL. */
export type Value = null | bigint | number | string | Uint8Array;

const least = -(2n ** 63n);
const most = 2n ** 63n - 1n;

/** Refuses a value that the type does not allow, as the server does. */
function decodeValue(wire: WireValue): Value {
  if (wire.type === 'null') return null;
  if (wire.type === 'integer' && typeof wire.value === 'string') return decodeInteger(wire.value);
  if (wire.type === 'float' && typeof wire.value === 'number') return wire.value;
  if (wire.type === 'text' && typeof wire.value === 'string') return wire.value;
  if (wire.type === 'blob' && typeof wire.base64 === 'string') return Buffer.from(wire.base64, 'base64');
  throw new ProtocolError('Cannot deserialize client message from JSON');
}

function decodeInteger(text: string): bigint {
  const value = /^-?\d{1,19}$/.test(text) ? BigInt(text) : most + 1n;
  if (value < least || value > most) throw new ProtocolError('Cannot deserialize client message from JSON');
  return value;
}

export function encodeValue(value: Value): WireValue {
  if (value === null) return { type: 'null' };
  if (typeof value === 'bigint') return { type: 'integer', value: value.toString() };
  if (typeof value === 'number') return { type: 'float', value };
  if (typeof value === 'string') return { type: 'text', value };
  return { type: 'blob', base64: Buffer.from(value).toString('base64').replace(/=+$/, '') };
}
