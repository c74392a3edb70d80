import { rootRouteId, useRouterState } from '@tanstack/react-router';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** For everybody alike, whether or not a session has started. */
    isOpen?: true;
  }
}

/** Whether the page that is shown can be read before it is known who reads it. */
export function useIsOpen(): boolean {
  return useRouterState({
    select: ({ matches }) => {
      const shown = matches.at(-1);
      return shown?.routeId === rootRouteId || shown?.staticData.isOpen === true;
    },
  });
}
