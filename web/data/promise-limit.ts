import * as timeLimits from './time-limits.ts';

/** Rejects with a `TimeLimitError` after `limit` ms. */
export function within<T>(limit: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeLimitError()), limit);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

export const loadInTime = <T>(file: Promise<T>): Promise<T> => within(timeLimits.file, file);

export class TimeLimitError extends Error {
  override name = 'TimeLimitError';
}
