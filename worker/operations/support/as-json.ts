/** Numbers from here on are instants in unix ms, which are printed as dates. */
const firstInstant = 1_000_000_000_000;
const lastInstant = 10 * firstInstant;

/** JSON for people and programs: instants as ISO 8601. */
export function asJson(data: unknown): string {
  const readable = (_: string, value: unknown) =>
    typeof value === 'number' && value >= firstInstant && value < lastInstant ? new Date(value).toISOString() : value;
  return JSON.stringify(data, readable, 2);
}
