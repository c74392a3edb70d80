import type { Plugin } from 'vite';

type Styles = Record<string, (...args: unknown[]) => unknown>;

/** Replaces calls of `css` and recipes with literal arguments by class names, so that no page ships them. */
export function inlineStyles(generated: string): Plugin {
  let styles: Styles = {};
  return {
    name: 'inline-styles',
    apply: 'build',
    enforce: 'post',
    // What renders the pages can call the functions.
    applyToEnvironment: ({ name }) => name === 'client',
    async buildStart() {
      const [css, recipes] = await Promise.all([
        import(`${generated}/css/index.js`),
        import(`${generated}/recipes/index.js`),
      ]);
      styles = { ...css, ...recipes };
    },
    transform(code, id) {
      // The generated functions do nothing until they are called.
      if (id.startsWith(generated)) return { code, moduleSideEffects: false, map: null };
      if (!code.includes('#styled/')) return null;
      return { code: inlined(code, staticStyleCalls(this.parse(code), code), styles), map: null };
    },
  };
}

function inlined(code: string, calls: ReturnType<typeof staticStyleCalls>, styles: Styles): string {
  const fromTheEnd = calls.toSorted((a, b) => b.start - a.start);
  return fromTheEnd.reduce((text, { name, args, start, end }) => {
    const result = JSON.stringify(styles[name]?.(...args));
    return result === undefined ? text : text.slice(0, start) + wrapped(result) + text.slice(end);
  }, code);
}

/** The class names of a slot recipe are an object, which must not be parsed as a block. */
const wrapped = (result: string) => (result.startsWith('{') ? `(${result})` : result);

type Node = { type: string; start: number; end: number } & Record<string, unknown>;
export type StaticStyleCall = { name: string; args: unknown[]; start: number; end: number };

/** The calls of functions from `#styled/*` whose arguments are literals only. */
function staticStyleCalls(program: object, code: string): StaticStyleCall[] {
  const names = importedNames(program as Node);
  const calls: StaticStyleCall[] = [];
  walk(program as Node, (node) => {
    const callee = node['callee'] as Node | undefined;
    const name =
      node.type === 'CallExpression' && callee?.type === 'Identifier'
        ? names.get(String(callee['name']))
        : undefined;
    const args = node['arguments'] as Node[] | undefined;
    if (!name || !args?.every(isStatic)) return;
    const source = args.map(({ start, end }) => code.slice(start, end)).join(',');
    calls.push({ name, args: evaluate(source), start: node.start, end: node.end });
  });
  return calls;
}

/** Local name → exported name of a module's imports from `#styled/*`. */
function importedNames(program: Node): Map<string, string> {
  const imports = (program['body'] as Node[]).filter(
    (node) =>
      node.type === 'ImportDeclaration' &&
      String((node['source'] as Node)['value']).startsWith('#styled/'),
  );
  const specifiers = imports.flatMap((node) => node['specifiers'] as Node[]);
  return new Map(specifiers.map((one) => [nameOf(one['local']), nameOf(one['imported'])]));
}

const nameOf = (identifier: unknown) => String((identifier as Node | undefined)?.['name']);

function isStatic(node: Node): boolean {
  if (node.type === 'Literal') return true;
  if (node.type === 'TemplateLiteral') return (node['expressions'] as Node[]).length === 0;
  if (node.type === 'UnaryExpression') return isStatic(node['argument'] as Node);
  if (node.type === 'ArrayExpression') return (node['elements'] as Node[]).every(isStatic);
  return node.type === 'ObjectExpression' && (node['properties'] as Node[]).every(isStaticProperty);
}

function isStaticProperty(node: Node): boolean {
  return node.type === 'Property' && node['computed'] === false && isStatic(node['value'] as Node);
}

/** The arguments are literals, checked above, so they cannot access the module. */
function evaluate(source: string): unknown[] {
  // oxlint-disable-next-line typescript/no-implied-eval -- runs while building, on the project's own source
  return new Function(`return [${source}]`)() as unknown[];
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const value of Object.values(node)) {
    const children = Array.isArray(value) ? value : [value];
    for (const child of children) if (isNode(child)) walk(child, visit);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;
