/** Whether `actual` contains all of `wanted`. Objects may have more fields, and lists another order. */
export function matches(actual: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return false;
    return wanted.every((one) => actual.some((other) => matches(other, one)));
  }
  if (typeof wanted !== 'object' || wanted === null) return actual === wanted;
  const fields = (actual ?? {}) as Record<string, unknown>;
  return Object.entries(wanted).every(([name, value]) => matches(fields[name], value));
}
