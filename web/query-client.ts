import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { tell } from './tell.ts';

/** Reads are tried once more after a second, unless the server has refused them. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error, query) => query.meta?.['silent'] || tell(error) }),
  defaultOptions: { queries: { retry: (failures, error) => failures < 1 && !isRefusal(error), retryDelay: 1000 } },
});

const isRefusal = (error: Error) => error instanceof ApiError && (error.told || (error.status ?? 500) < 500);
