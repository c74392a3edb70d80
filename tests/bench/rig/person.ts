/**
 * The first instant of the seeded users' week, in unix ms: it is in the future, so that no week ends during a
 * measurement.
 */
export const weekAnchor = Date.UTC(2100, 0, 1);

/** Far below every limit, so that no measured message is refused. */
export const usedBefore = -1_000_000_000;

const userFactor = 2_654_435_761;
const sessionFactor = 2_246_822_519;

/** Distributes rows over their indexes as random ids do, but computes the ids from `index`. */
const idSql = (factor: number) => `printf('%08x-0000-4000-8000-%012x', (i * ${factor}) % 4294967296, i)`;

function idOf(index: number, factor: number): string {
  const scattered = ((index * factor) % 4_294_967_296).toString(16).padStart(8, '0');
  return `${scattered}-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
}

/** SQL over a row number `i`: the same values as `personAt`. */
export const personSql = {
  userId: idSql(userFactor),
  sessionId: idSql(sessionFactor),
  phone: `'+' || (12000000000 + i)`,
};

export type Person = { userId: string; sessionId: string; phone: string };

/** The seeded user with this number, counted from 0. */
export function personAt(index: number): Person {
  return {
    userId: idOf(index, userFactor),
    sessionId: idOf(index, sessionFactor),
    phone: `+${12_000_000_000 + index}`,
  };
}
