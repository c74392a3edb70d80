import { rootRouteId, useRouterState } from '@tanstack/react-router';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page is the same for every visitor, so it renders before the session has started. */
    rendersWithoutSession?: true;
  }
}

/** Whether the current page renders before the session has started; the 404 page does. */
export function useRendersWithoutSession(): boolean {
  return useRouterState({
    select: ({ matches }) => {
      const match = matches.at(-1);
      return match?.routeId === rootRouteId || match?.staticData.rendersWithoutSession === true;
    },
  });
}
