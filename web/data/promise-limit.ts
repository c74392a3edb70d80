import * as timeLimits from './time-limits.ts';

/** Rejects with a `TimeLimitError` after `limitMs`. */
export function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeLimitError()), limitMs);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

export const loadInTime = <T>(file: Promise<T>): Promise<T> => within(timeLimits.fileMs, file);

export class TimeLimitError extends Error {
  override name = 'TimeLimitError';
}
