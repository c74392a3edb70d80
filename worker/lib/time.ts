export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export function isoDate(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
