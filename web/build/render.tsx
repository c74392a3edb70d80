import { RouterProvider, createMemoryHistory } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { basePath } from '#words/language';
import { newEarlyStart, type ShownChat } from '../data/early-start.ts';
import { session } from '../data/session.ts';
import { createAppRouter, routeIdOf } from '../router.tsx';
import type { Rendered } from './write-pages.ts';

/** The markup of a path for an unknown visitor, or with a conversation in the frame of the chat. */
export async function render(path: string, shownChat: ShownChat | null = null): Promise<Rendered> {
  if (session.get().isInitializing) session.endInitialization();
  globalThis.earlyStart = { ...newEarlyStart(), shownChat };
  const router = createAppRouter(createMemoryHistory({ initialEntries: [basePath + path] }));
  await router.load();
  const markup = renderToString(
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>,
  );
  return { routeId: routeIdOf(router), markup };
}
