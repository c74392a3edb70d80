import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { notifyError } from './error-toasts.ts';

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error, query) {
      if (!query.meta?.['silent']) notifyError(error);
    },
  }),
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 1 && mayRetry(error),
      retryDelay: 1000,
      // Without a network the call fails, and the page says so.
      networkMode: 'always',
    },
  },
});

// A returning reader sees what was done in other tabs.
queryClient.mount();

const mayRetry = (error: Error) =>
  !(error instanceof ApiError) || (error.isOutage && !error.isNotified);
