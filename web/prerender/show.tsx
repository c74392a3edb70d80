import { RouterProvider, type RegisteredRouter } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { pageOf } from './page-of.ts';
import { isPlainVisit } from './plain-visit.ts';
import { typedSoFar } from './typed-so-far.ts';

/** Takes over the markup that the page came with, or renders into an empty shell. */
export async function show(root: HTMLElement, router: RegisteredRouter): Promise<void> {
  const app = (
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>
  );
  if (await isTakenOver(root, router)) {
    const restore = typedSoFar(root);
    hydrateRoot(root, app, { onRecoverableError });
    restore();
    return;
  }
  delete router.ssr;
  delete root.dataset['strangers'];
  root.replaceChildren();
  createRoot(root).render(app);
}

async function isTakenOver(root: HTMLElement, router: RegisteredRouter): Promise<boolean> {
  if (!root.hasChildNodes() || !isPlainVisit(root)) return false;
  // Makes the router draw its top as it was drawn at build time, without a fallback around it.
  router.ssr = { manifest: undefined };
  await router.load();
  return pageOf(router) === root.dataset['page'];
}

/** React has drawn the page anew and nothing is broken: whoever develops should know, the visitor need not. */
function onRecoverableError(error: unknown): void {
  // oxlint-disable-next-line no-console -- there is nobody else to tell
  console.error(error);
}
