/** Whether all that is wanted stands in what is there; more may stand there, and lists may have another order. */
export function holds(actual: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return false;
    return wanted.every((one) => actual.some((other) => holds(other, one)));
  }
  if (typeof wanted !== 'object' || wanted === null) return actual === wanted;
  const there = (actual ?? {}) as Record<string, unknown>;
  return Object.entries(wanted).every(([name, value]) => holds(there[name], value));
}
