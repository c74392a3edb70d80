import { RouterProvider, createMemoryHistory } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { session } from '../data/session.ts';
import { createAppRouter, routeIdOf } from '../router.tsx';
import type { Rendered } from './load-render.ts';

/** The markup of a path for an unknown visitor. */
export async function render(path: string): Promise<Rendered> {
  if (session.get().isInitializing) session.endInitialization();
  const router = createAppRouter(createMemoryHistory({ initialEntries: [path] }));
  await router.load();
  const markup = renderToString(
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>,
  );
  return { routeId: routeIdOf(router), markup };
}
