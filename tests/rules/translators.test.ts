import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseSync } from 'vite';

type Node = {
  type: string;
  start: number;
  end: number;
} & Record<string, unknown>;

/**
 * Browsers' translators put elements in the place of text nodes. React then cannot change or remove such a node beside
 * others, and the page crashes. So text that changes, appears or disappears is the only child of an element.
 */
function unsafeTexts(code: string): string[] {
  const found: string[] = [];
  visit(parseSync('file.tsx', code).program, (node) => {
    if (node.type !== 'JSXElement' && node.type !== 'JSXFragment') return;
    const children = (node['children'] as Node[]).filter((child) => !isLayout(child, code));
    if (node.type === 'JSXElement' && children.length < 2) return;
    for (const child of children) {
      const expression = child['expression'] as Node | undefined;
      if (expression && isChangingText(expression)) found.push(textOf(expression, code));
    }
  });
  return found;
}

const textOf = ({ start, end }: Node, code: string) => code.slice(start, end);

const isLayout = (node: Node, code: string) =>
  node.type === 'JSXText' && /^\s*\n\s*$/.test(textOf(node, code));

function isChangingText(node: Node): boolean {
  if (node.type === 'LogicalExpression') return isText(node['right'] as Node);
  if (node.type === 'ConditionalExpression')
    return isText(node['consequent'] as Node) || isText(node['alternate'] as Node);
  return isText(node) && node.type !== 'MemberExpression' && node.type !== 'Literal';
}

/** Words, templates and strings; those of a component's own state cannot be told from elements here. */
function isText(node: Node): boolean {
  if (node.type === 'TemplateLiteral') return true;
  if (node.type === 'Literal')
    return typeof node['value'] === 'string' && node['value'].trim() !== '';
  if (node.type === 'CallExpression')
    return isText(node['callee'] as Node) && (node['arguments'] as Node[]).length > 0;
  if (node.type === 'ConditionalExpression' || node.type === 'LogicalExpression')
    return isChangingText(node);
  const { name } = (node['object'] ?? {}) as { name?: string };
  return node.type === 'MemberExpression' && /[wW]ords$/.test(name ?? '');
}

function visit(node: unknown, act: (node: Node) => void): void {
  if (Array.isArray(node)) for (const one of node) visit(one, act);
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
  if ('type' in node) act(node as Node);
  for (const value of Object.values(node)) visit(value, act);
}

it.each([
  ['<p>{isOn && chatWords.writing}<i /></p>', 1],
  ['<p>{isOn ? chatWords.writing : null} <i /></p>', 1],
  ['<>{chatWords.count(3)}</>', 1],
  ['<p>{chatWords.count(3)}<i /></p>', 1],
  ['<p>{`${left} s`}<i /></p>', 1],
  ['<p>{chatWords.count(3)}</p>', 0],
  ['<p>{isOn && <span>{chatWords.writing}</span>}<i /></p>', 0],
  ['<p>{chatWords.writing}<i /></p>', 0],
])('%s has %i texts that a translator breaks', (jsx, count) => {
  expect(unsafeTexts(`const x = ${jsx};`)).toHaveLength(count);
});

const files = globSync('web/{app,pages,ui}/**/*.tsx');

it.each(files)('%s can be translated by a browser', (file) => {
  expect(unsafeTexts(readFileSync(file, 'utf8'))).toEqual([]);
});
