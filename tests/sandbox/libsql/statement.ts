import Database from 'libsql';
import type { Statement, Value } from './hrana.ts';

/** The bindable indexes of a statement: null for a bare `?` and for a gap. */
export type Params = (string | null)[];

const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|[:@$][\w$\u0080-\uffff]+|[\w$\u0080-\uffff]+|[^\s\w]/g;
const comment = /^(?:--|\/\*)/;
const parameter = /^(?:\?|[:@$].)/s;
const trigger = /^\s*create\s+(?:temp\s+|temporary\s+)?trigger\b/i;

/** Ends one statement with this code and message. */
const refusal = (code: string, message: string) => new Database.SqliteError(message, code);

/** The parameters, by the rules of SQLite's tokenizer: the engine's binding does not provide them. Throws unless `sql` is one statement. */
export function parametersOf(sql: string): Params {
  const params: Params = [];
  let statements = 0;
  let open = false;
  for (const [token] of sql.matchAll(tokens)) {
    if (comment.test(token)) continue;
    if (!open && token !== ';') statements += 1;
    open = token !== ';';
    if (parameter.test(token)) declare(params, token);
  }
  if (statements === 0) throw refusal('SQL_NO_STATEMENT', 'SQL string does not contain any statement');
  if (statements > 1 && !trigger.test(sql))
    throw refusal('SQL_MANY_STATEMENTS', 'SQL string contains more than one statement');
  return params;
}

function declare(params: Params, token: string): void {
  if (/^\?\d/.test(token)) {
    const index = Math.min(Number(token.slice(1)), 32_766);
    while (params.length < index) params.push(null);
    params[index - 1] = token;
  } else if (token === '?') params.push(null);
  else if (!params.includes(token)) params.push(token);
}

/** The values in the order of their indexes, since the engine's binding crashes the process on unknown names. */
export function bind(params: Params, { args, named_args: named }: Statement): Value[] {
  if (args.length > 0 && named.length > 0)
    throw refusal('ARGS_BOTH_POSITIONAL_AND_NAMED', 'Positional and named arguments cannot stand together');
  if (args.length + named.length > params.length)
    throw refusal('ARGS_INVALID', `too many parameters, expected ${params.length}`);
  const bare = (name: string) => name.replace(/^[:@$?]/, '');
  const byName = new Map(named.map(({ name, value }) => [bare(name), value]));
  return params.map((name, index) => {
    const value = (name === null ? undefined : byName.get(bare(name))) ?? args[index];
    if (value !== undefined) return value;
    throw refusal('ARGS_INVALID', `value for parameter ${name ?? index + 1} not found`);
  });
}
