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
