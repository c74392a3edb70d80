import { analyze } from './analyze.ts';
import { StatementError } from './errors.ts';
import type { Statement } from './protocol.ts';
import { decodeValue, type Value, type WireValue } from './values.ts';

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
