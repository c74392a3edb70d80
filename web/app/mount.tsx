import { RouterProvider, type RegisteredRouter } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { clearShownChat, shownChat } from '../data/early-start.ts';
import { session } from '../data/session.ts';
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
    if (isShell(root)) delete root.dataset['prerendered'];
    return;
  }
  delete router.ssr;
  delete root.dataset['prerendered'];
  root.replaceChildren();
  flushSync(() => createRoot(root).render(app));
  clearShownChat();
}

async function matchesMarkup(root: HTMLElement, router: RegisteredRouter): Promise<boolean> {
  if (!isShell(root) && !canHydrate(root)) return false;
  // The router then renders its root without a Suspense boundary, as it did at build time.
  router.ssr = { manifest: undefined };
  // The shell stays until the page can be rendered with its data.
  await router.load();
  if (isShell(root) && !isFilled()) return false;
  return routeIdOf(router) === root.dataset['route'];
}

const isShell = ({ dataset }: HTMLElement) => dataset['prerendered'] === 'shell';

/** Whether the frame of the chat shows the conversation of the current session (`shell/fill-chat.tsx`). */
function isFilled(): boolean {
  const shown = shownChat();
  return shown !== null && shown.token === session.get().token;
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
