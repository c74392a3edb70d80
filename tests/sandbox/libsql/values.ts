import { analyze } from './analyze.ts';
import { StatementError, ProtocolError } from './errors.ts';
import type { Statement, WireValue } from './protocol.ts';

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
