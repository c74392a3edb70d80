import { fillPlaceholders, type Placeholder } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { drizzle } from 'drizzle-orm/libsql/web';

type Statement = BatchItem<'sqlite'>;
type Built = {
  getQuery: () => { sql: string; params: unknown[] };
  mapResult: (result: unknown, isFromBatch?: boolean) => unknown;
};

/** A value, or a `sql.placeholder` that each call of a prepared statement fills in. */
export type Value<T> = T | Placeholder<string, T>;

/** Builds statements; it has no database to run them on. */
export const build = drizzle({ client: {} as never });

/** A statement for `batch` whose text is built once for the isolate: building it costs more than running it. */
export function prepared<Each extends Statement>(statement: Each): (values: Record<string, unknown>) => Each {
  const built = (statement as unknown as { _prepare: () => Built })._prepare();
  const { sql, params } = built.getQuery();
  return (values) => {
    const filled: Built = {
      getQuery: () => ({ sql, params: fillPlaceholders(params, values) }),
      mapResult: (result, isFromBatch) => built.mapResult(result, isFromBatch),
    };
    return { _prepare: () => filled } as unknown as Each;
  };
}
