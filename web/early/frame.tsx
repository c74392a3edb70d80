import { Outlet, rootRouteId, type RegisteredRouter } from '@tanstack/react-router';
import { newEarlyStart } from '../data/early-start.ts';
import { sample } from './sample.ts';

export function renderFrame(
  router: RegisteredRouter,
  render: (router: RegisteredRouter) => string,
): string {
  const root = router.routesById[rootRouteId];
  const { component: layout } = root.options;
  if (!layout) throw new Error('The site has no layout');
  globalThis.earlyStart = { ...newEarlyStart(), shownChat: sample };
  root.update({ component: Outlet });
  const markup = render(router);
  root.update({ component: layout });
  globalThis.earlyStart = newEarlyStart();
  return markup;
}
