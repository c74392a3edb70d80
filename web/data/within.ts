/** The promise as it is, or a rejection with a `TimeLimitError` if it takes longer (ms). */
export function within<T>(limit: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeLimitError()), limit);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

export class TimeLimitError extends Error {
  override name = 'TimeLimitError';
}
