/** Counts clearings, and names the last restore. */
export const clearingsPerRestore = 1_000_000;

export function restoredAt(epoch: number): number {
  return Math.floor(epoch / clearingsPerRestore) * 1000;
}

/** Without a clearing that the other epoch has not seen. */
export function isRestoreOf(epoch: number, earlier: number): boolean {
  const clearings = (each: number) => each % clearingsPerRestore;
  return restoredAt(epoch) > restoredAt(earlier) && clearings(epoch) <= clearings(earlier);
}
