import { ProtocolError } from './errors.ts';

/** A value of the engine: bigint is INTEGER, number is REAL. */
export type Value = null | bigint | number | string | Uint8Array;

/** A value in Hrana's JSON. */
export type WireValue =
  | { type: 'null' }
  | { type: 'integer'; value: string }
  | { type: 'float'; value: number }
  | { type: 'text'; value: string }
  | { type: 'blob'; base64: string };

const least = -(2n ** 63n);
const most = 2n ** 63n - 1n;

/** Refuses a value that the type does not allow, as the server does. */
export function decodeValue(wire: WireValue): Value {
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
