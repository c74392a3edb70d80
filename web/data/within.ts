import * as timeLimits from './time-limits.ts';

/** The promise as it is, or a rejection with a `TimeLimitError` if it takes longer (ms). */
export function within<T>(limit: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeLimitError()), limit);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A file of the app, within its time limit. */
export const loaded = <T>(file: Promise<T>): Promise<T> => within(timeLimits.file, file);

export class TimeLimitError extends Error {
  override name = 'TimeLimitError';
}
