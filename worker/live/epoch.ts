/**
 * The epoch of a conversation counts how often it was cleared,
 * and names the second to which the database was put back last.
 * A greater epoch ends a smaller one: after a clearing nothing
 * of it is left, after a restore what was there at that second.
 * One number, so that every call about messages carries both.
 */
export const clearingsPerRestore = 1_000_000;

/** Unix ms; 0 if the database was never put back. */
export function restoredAt(epoch: number): number {
  return Math.floor(epoch / clearingsPerRestore) * 1000;
}

/**
 * Whether an epoch follows another one by a restore
 * alone, without a clearing that the other has not seen.
 */
export function isRestoreOf(epoch: number, earlier: number): boolean {
  const clearings = (each: number) => each % clearingsPerRestore;
  return restoredAt(epoch) > restoredAt(earlier) && clearings(epoch) <= clearings(earlier);
}
