import { createRouter } from '@tanstack/react-router';
import { Crash } from './frame/crash.tsx';
import { NotFound } from './frame/not-found.tsx';
import { routeTree } from './routeTree.gen.ts';
import { Waiting } from './ui/waiting.tsx';
import { frameWords } from './words/frame.ts';

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  // A preloaded page still asks its guard when it is opened.
  defaultPreloadStaleTime: 0,
  defaultNotFoundComponent: NotFound,
  defaultPendingComponent: () => <Waiting label={frameWords.loadingPage} />,
  defaultErrorComponent: ({ error }) => <Crash text={error instanceof Error ? error.message : String(error)} />,
  defaultPendingMs: 200,
  defaultPendingMinMs: 0,
  scrollRestoration: true,
  // Search values are text as they stand in the address; a token of digits must not become a number.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(
      Object.entries(search).filter(([, value]) => typeof value === 'string') as string[][],
    ).toString();
    return text && `?${text}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
