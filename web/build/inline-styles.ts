import type { Plugin } from 'vite';

type Styles = Record<string, (...args: unknown[]) => unknown>;

/**
 * Replaces calls of `css` and of recipes by their results, where the arguments are literals. Without it each page has
 * 6 KiB more of scripts, and the chat 5 KiB more of HTML (2026-11-29).
 */
export function inlineStyles(generated: string): Plugin {
  let styles: Styles = {};
  return {
    name: 'inline-styles',
    apply: 'build',
    enforce: 'post',
    // What renders the pages can call them.
    applyToEnvironment: ({ name }) => name === 'client',
    async buildStart() {
      const [css, recipes] = await Promise.all([
        import(`${generated}/css/index.js`),
        import(`${generated}/recipes/index.js`),
      ]);
      styles = { ...css, ...recipes };
    },
    transform(code, id) {
      // Generated functions have no side effects.
      if (id.startsWith(generated)) return { code, moduleSideEffects: false, map: null };
      if (!code.includes('#styled/')) return null;
      return { code: inlined(code, staticStyleCalls(this.parse(code)), styles), map: null };
    },
  };
}

function inlined(code: string, calls: StaticStyleCall[], styles: Styles): string {
  const fromTheEnd = calls.toSorted((a, b) => b.start - a.start);
  return fromTheEnd.reduce((text, { name, args, start, end }) => {
    const result = JSON.stringify(styles[name]?.(...args));
    return result === undefined ? text : text.slice(0, start) + wrapped(result) + text.slice(end);
  }, code);
}

/** An object must not be parsed as a block. */
const wrapped = (result: string) => (result.startsWith('{') ? `(${result})` : result);

type AstNode = { type: string; start: number; end: number } & Record<string, unknown>;
type StaticStyleCall = { name: string; args: unknown[]; start: number; end: number };

function staticStyleCalls(program: object): StaticStyleCall[] {
  const names = importedNames(program as AstNode);
  const calls: StaticStyleCall[] = [];
  walk(program as AstNode, (node) => {
    const name = names.get(calledBy(node));
    const args = nodesOf(node, 'arguments');
    if (!name || !args.every(isStatic)) return;
    calls.push({ name, args: args.map(valueOf), start: node.start, end: node.end });
  });
  return calls;
}

function calledBy(node: AstNode): string {
  const callee = node['callee'] as AstNode | undefined;
  const isCall = node.type === 'CallExpression' && callee?.type === 'Identifier';
  return isCall ? nameOf(callee) : '';
}

/** Local name → exported name. */
function importedNames(program: AstNode): Map<string, string> {
  const imports = nodesOf(program, 'body').filter(
    (node) =>
      node.type === 'ImportDeclaration' &&
      String((node['source'] as AstNode)['value']).startsWith('#styled/'),
  );
  const specifiers = imports.flatMap((node) => nodesOf(node, 'specifiers'));
  return new Map(specifiers.map((one) => [nameOf(one['local']), nameOf(one['imported'])]));
}

const nameOf = (identifier: unknown) => String((identifier as AstNode | undefined)?.['name']);
const nodesOf = (node: AstNode, key: string) => (node[key] ?? []) as AstNode[];

type NodeKind = { isStatic: (node: AstNode) => boolean; value: (node: AstNode) => unknown };

const cookedOf = (quasi: AstNode) => (quasi['value'] as { cooked: string }).cooked;
const operand = (node: AstNode) => node['argument'] as AstNode;

const literals: Record<string, NodeKind> = {
  Literal: { isStatic: () => true, value: (node) => node['value'] },
  TemplateLiteral: {
    isStatic: (node) => nodesOf(node, 'expressions').length === 0,
    value: (node) => nodesOf(node, 'quasis').map(cookedOf).join(''),
  },
  UnaryExpression: {
    isStatic: (node) => node['operator'] === '-' && isStatic(operand(node)),
    value: (node) => -Number(valueOf(operand(node))),
  },
  ArrayExpression: {
    isStatic: (node) => nodesOf(node, 'elements').every(isStatic),
    value: (node) => nodesOf(node, 'elements').map(valueOf),
  },
  ObjectExpression: {
    isStatic: (node) => nodesOf(node, 'properties').every(isStaticProperty),
    value: (node) => Object.fromEntries(nodesOf(node, 'properties').map(entryOf)),
  },
};

const isStatic = (node: AstNode): boolean => literals[node.type]?.isStatic(node) ?? false;
const valueOf = (node: AstNode): unknown => literals[node.type]?.value(node);

const isStaticProperty = (node: AstNode) =>
  node.type === 'Property' && node['computed'] === false && isStatic(node['value'] as AstNode);

function entryOf(property: AstNode): [string, unknown] {
  const key = property['key'] as AstNode;
  const name = key.type === 'Identifier' ? nameOf(key) : String(key['value']);
  return [name, valueOf(property['value'] as AstNode)];
}

function walk(node: AstNode, visit: (node: AstNode) => void): void {
  visit(node);
  for (const value of Object.values(node)) {
    const children = Array.isArray(value) ? value : [value];
    for (const child of children) if (isNode(child)) walk(child, visit);
  }
}

const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && 'type' in value;
