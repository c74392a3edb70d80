import responses from '../contract/responses.json' with { type: 'json' };
import { type Fields, isChoice, type Shape } from '../contract/shape.ts';

const shapes = responses as unknown as Record<string, Shape>;

/** The differences between a value and a shape, by path; none if it is as Stripe's SDK declares it. */
export function problems(shape: Shape, value: unknown, path = '$'): string[] {
  if (typeof shape === 'string') return ofText(shape, value, path);
  if (isChoice(shape)) return ofChoice(shape['|'], value, path);
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return value.flatMap((item, index) => problems(shape[0], item, `${path}[${index}]`));
  }
  return typeof value === 'object' && value !== null ? ofFields(shape, value, path) : [`${path} is no object`];
}

function ofText(shape: string, value: unknown, path: string): string[] {
  if (shape === 'any') return [];
  if (shape.startsWith('#')) return problems(shapes[shape.slice(1)] ?? 'any', value, path);
  if (shape === 'null') return value === null ? [] : [`${path} is not null`];
  if (shape.startsWith('enum:')) {
    return shape.slice(5).split('|').includes(String(value)) ? [] : [`${path} is ${String(value)}, not ${shape}`];
  }
  if (shape === 'metadata') {
    const isMap =
      typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'string');
    return isMap ? [] : [`${path} is no metadata`];
  }
  return typeof value === shape ? [] : [`${path} is ${JSON.stringify(value)}, not ${shape}`];
}

function ofChoice(choices: Shape[], value: unknown, path: string): string[] {
  const found = choices.map((choice) => problems(choice, value, path));
  return (
    found
      .toSorted((one, other) => deepest(other) - deepest(one) || one.length - other.length)
      .find(() => found.every((list) => list.length > 0)) ?? []
  );
}

function deepest(found: string[]): number {
  return Math.max(0, ...found.map((problem) => problem.split(' ')[0]?.length ?? 0));
}

function ofFields(fields: Fields, value: object, path: string): string[] {
  const known = Object.entries(fields).flatMap(([key, shape]) => {
    const name = key.replace(/!$/, '');
    if (name in value) return problems(shape, (value as Record<string, unknown>)[name], `${path}.${name}`);
    return key.endsWith('!') ? [`${path}.${name} is missing`] : [];
  });
  const unknown = Object.keys(value).filter((name) => !(name in fields) && !(`${name}!` in fields));
  return [...known, ...unknown.map((name) => `${path}.${name} is not Stripe's`)];
}
