import { type Plugin, parseAst } from 'vite';

type Node = { type: string; start: number; end: number } & Record<string, unknown>;
type Place = { node: Node; parent: Node };

/**
 * Removes the properties of constant objects that a script never reads: of all sentences, an inline script needs only a
 * few. Bundlers remove unused exports, but not unused properties.
 */
export function dropUnusedProperties(): Plugin {
  return {
    name: 'drop-unused-properties',
    apply: 'build',
    renderChunk: (code) => ({ code: withoutUnusedProperties(code), map: null }),
  };
}

/** The code of a script without these properties. */
export function withoutUnusedProperties(code: string): string {
  const shorter = removeOnce(code, parseAst(code) as unknown as Node);
  // A removed sentence may have been the only one with the name of the brand.
  return shorter === code ? code : withoutUnusedProperties(shorter);
}

function removeOnce(code: string, program: Node): string {
  const places = placesIn(program, program);
  const objects = places.filter(({ node }) => isConstantObject(node)).map(({ node }) => node);
  const fromTheEnd = objects.toSorted((a, b) => b.start - a.start);
  return fromTheEnd.reduce((text, { id, init }) => {
    const [object, names] = [init as Node, namesRead(nameOf(id), places)];
    if (names === null) return text;
    const kept = propertiesOf(object).filter(({ key }) => names.has(nameOf(key)));
    const source = kept.map(({ start, end }) => code.slice(start, end)).join(', ');
    return `${text.slice(0, object.start)}{ ${source} }${text.slice(object.end)}`;
  }, code);
}

const harmless = new Set(['Literal', 'TemplateLiteral', 'ArrowFunctionExpression', 'Identifier', 'ObjectExpression']);

/** `const words = { title: 'Text', … }`, whose properties can go without a side effect. */
function isConstantObject({ type, id, init }: Node): boolean {
  if (type !== 'VariableDeclarator' || !isNode(id) || id.type !== 'Identifier') return false;
  if (!isNode(init) || init.type !== 'ObjectExpression') return false;
  return propertiesOf(init).every(
    ({ type: kind, computed, value }) => kind === 'Property' && !computed && isNode(value) && harmless.has(value.type),
  );
}

/** The properties that are read of a variable; null if the object itself is used. */
function namesRead(variable: string, places: Place[]): Set<string> | null {
  const names = new Set<string>();
  for (const { node, parent } of places) {
    if (node.type !== 'Identifier' || nameOf(node) !== variable || isPropertyName(node, parent)) continue;
    if (parent['id'] === node) continue;
    const read = namesReadAt(node, parent);
    if (read === null) return null;
    for (const name of read) names.add(name);
  }
  return names;
}

function namesReadAt(node: Node, parent: Node): string[] | null {
  if (parent.type === 'MemberExpression' && parent['object'] === node && !parent['computed'])
    return [nameOf(parent['property'])];
  const pattern = parent.type === 'VariableDeclarator' && parent['init'] === node ? (parent['id'] as Node) : null;
  if (pattern?.type !== 'ObjectPattern') return null;
  const properties = propertiesOf(pattern);
  return properties.every(({ type, computed }) => type === 'Property' && !computed)
    ? properties.map(({ key }) => nameOf(key))
    : null;
}

function isPropertyName(node: Node, parent: Node): boolean {
  if (parent['computed']) return false;
  return parent['property'] === node || (parent['key'] === node && parent['value'] !== node);
}

function placesIn(node: Node, parent: Node): Place[] {
  const children = Object.values(node).flat().filter(isNode);
  return [{ node, parent }, ...children.flatMap((child) => placesIn(child, node))];
}

const propertiesOf = (object: Node) => object['properties'] as Node[];
const nameOf = (identifier: unknown) => String((identifier as Node | undefined)?.['name']);
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
