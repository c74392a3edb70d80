import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, notifyError } from './api-errors.ts';

/** Queries are retried once after one second, unless the server has refused them. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => query.meta?.['silent'] || notifyError(error),
  }),
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 1 && mayRetry(error),
      retryDelay: 1000,
      // Without a network the call fails and the page shows it, instead of waiting.
      networkMode: 'always',
    },
  },
});

// Whoever returns from another tab sees what was done there.
queryClient.mount();

const mayRetry = (error: Error) =>
  !(error instanceof ApiError) || (error.isOutage && !error.isNotified);
