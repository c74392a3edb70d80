import { RouterProvider, createMemoryHistory } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { createAppRouter } from '../router.tsx';
import { session } from '../session.ts';
import { pageOf } from './page-of.ts';
import type { Rendered } from './renderer.ts';

/** The markup of a path, as a visitor sees it of whom nothing is known. */
export async function render(path: string): Promise<Rendered> {
  session.setInitializing(false);
  const router = createAppRouter(createMemoryHistory({ initialEntries: [path] }));
  await router.load();
  const markup = renderToString(
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>,
  );
  return { page: pageOf(router), markup };
}
