import { type RegisteredRouter, type RouterHistory, createRouter } from '@tanstack/react-router';
import { NotFound, RouteError } from './app/error-screens.tsx';
import { routeTree } from './routeTree.gen.ts';
import { PageSpinner } from './ui/spinner.tsx';
import { basePath } from '#words/language';
import { layoutWords } from '#words/layout';

/** For outside the browser. */
type Options = { history?: RouterHistory; notFound?: typeof NotFound };

export const createAppRouter = ({ history, notFound = NotFound }: Options = {}) =>
  createRouter({
    routeTree,
    basepath: basePath || '/',
    ...(history && { history }),
    context: { isPrerender: history !== undefined },
    defaultPreload: 'intent',
    // A preloaded page's guard runs again when it is opened.
    defaultPreloadStaleTime: 0,
    // Like the site's files.
    caseSensitive: true,
    defaultNotFoundComponent: notFound,
    defaultPendingComponent: () => <PageSpinner label={layoutWords.loadingPage} />,
    defaultErrorComponent: RouteError,
    defaultPendingMs: 200,
    defaultPendingMinMs: 0,
    // It would add a script outside the browser.
    scrollRestoration: history === undefined && scrollsAfterStart(),
    // A token of digits must not become a number.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const text = new URLSearchParams(
        Object.entries(search).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string',
        ),
      ).toString();
      return text && `?${text}`;
    },
  });

/**
 * Whether the router scrolls. It does, except when it first renders what was served, if the reader, or the
 * browser, has scrolled that before the app started.
 */
function scrollsAfterStart(): () => boolean {
  let served: string | null = location.pathname;

  return () => {
    const isScrolled = location.pathname === served && scrollY > 0;
    served = null;
    // For the way back: the router has seen no scrolling yet.
    if (isScrolled) document.dispatchEvent(new Event('scroll'));
    return !isScrolled;
  };
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}

/** The root's id for an unknown path. */
export function routeIdOf({ state }: RegisteredRouter): string {
  return state.matches.at(-1)?.routeId ?? '';
}
