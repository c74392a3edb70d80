import { RouterProvider, type RegisteredRouter } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { routeIdOf } from '../router.tsx';
import { saveTypedInput } from './save-typed-input.ts';

/** Hydrates the prerendered markup, or renders into the root if the markup does not match this visit. */
export async function mount(root: HTMLElement, router: RegisteredRouter): Promise<void> {
  const app = (
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>
  );
  if (await matchesMarkup(root, router)) {
    const restoreTypedInput = saveTypedInput(root);
    hydrateRoot(root, app, { onRecoverableError });
    restoreTypedInput();
    return;
  }
  delete router.ssr;
  // The shell stays until the page can be rendered with its data.
  if (root.dataset['prerendered'] === 'shell') await router.load();
  delete root.dataset['prerendered'];
  root.replaceChildren();
  flushSync(() => createRoot(root).render(app));
}

async function matchesMarkup(root: HTMLElement, router: RegisteredRouter): Promise<boolean> {
  if (!canHydrate(root)) return false;
  // The router then renders its root without a Suspense boundary, as it did at build time.
  router.ssr = { manifest: undefined };
  await router.load();
  return routeIdOf(router) === root.dataset['route'];
}

/** `head-script.ts` marks visits for which the guests' markup is wrong, and CSS then hides it. */
function canHydrate({ dataset: { prerendered } }: HTMLElement): boolean {
  const { visitor, address } = document.documentElement.dataset;
  return prerendered === 'page' || (prerendered === 'guest-page' && visitor === undefined && address === undefined);
}

/** React rendered the page again after a mismatch. The visitor sees a working page, so only developers are notified. */
function onRecoverableError(error: unknown): void {
  // oxlint-disable-next-line no-console -- there is no other place for a message to developers
  console.error(error);
}
