/** Starts `n` calls at once. */
export function parallel<T>(n: number, work: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: n }, (_, index) => work(index)));
}
