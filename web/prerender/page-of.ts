import type { RegisteredRouter } from '@tanstack/react-router';

/** The id of the route that is shown; the root's own for a path that nobody knows. */
export function pageOf({ state }: RegisteredRouter): string {
  return state.matches.at(-1)?.routeId ?? '';
}
