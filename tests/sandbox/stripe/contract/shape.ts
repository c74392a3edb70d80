/**
 * A value's shape in short. Text: string, number, boolean, any, null, empty (''), metadata (a map of strings),
 * `enum:a|b` or `#customer` (an object of that name). A list holds its element's shape, `{"|": […]}` its choices, and
 * any other object its fields, of which `name!` is required.
 */
export type Shape = string | [Shape] | { '|': Shape[] } | { [field: string]: Shape };
export type Fields = { [field: string]: Shape };

export function isChoice(shape: Shape): shape is { '|': Shape[] } {
  return typeof shape === 'object' && '|' in shape;
}

/** The shape of a field, and whether it is required. */
export function fieldOf(fields: Fields, name: string): { shape: Shape; required: boolean } | undefined {
  const required = fields[`${name}!`];
  if (required !== undefined) return { shape: required, required: true };
  const optional = fields[name];
  return optional === undefined ? undefined : { shape: optional, required: false };
}
