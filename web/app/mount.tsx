import { RouterProvider, type RegisteredRouter } from '@tanstack/react-router';
import { startTransition, StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { clearShownChat, shownChat } from '../data/early-start.ts';
import { session } from '../data/session.ts';
import { routeIdOf } from '../router.tsx';
import { startMode, startModes, type StartMode } from './start-modes.ts';
import { saveTypedInput } from './typed-input.ts';

/** ms until a page is shown as loading. */
const patience = 10_000;

/** Waits as `start-modes.ts` says, then takes over what was served, or renders in its place. */
export async function mount(root: HTMLElement, router: RegisteredRouter): Promise<void> {
  const { waitsFor } = startModes[modeOf(root)];
  // Renders without a Suspense boundary, as at build time.
  if (waitsFor === 'page') router.ssr = { manifest: undefined };
  if (waitsFor === 'page') await router.load();
  if (waitsFor === 'page, 10 s') await Promise.race([router.load(), after(patience)]);

  switch (endOf(root, router)) {
    case 'hydrate':
      return hydrate(root, router);
    case 'keepServed':
      return keepServed();
    case 'renderAnew':
      return renderAnew(root, router);
  }
}

type End = 'hydrate' | 'keepServed' | 'renderAnew';

/** A session may have ended meanwhile, so the mode may be another now. */
function endOf(root: HTMLElement, router: RegisteredRouter): End {
  const { takesOver, keepsServed } = startModes[modeOf(root)];
  if (keepsServed && lacksPage(router)) return 'keepServed';
  const isSamePage = routeIdOf(router) === root.dataset['route'];
  return takesOver && isSamePage ? 'hydrate' : 'renderAnew';
}

function modeOf({ dataset }: HTMLElement): StartMode {
  const shown = shownChat();
  const { token, isUnreached } = session.get();
  return startMode({
    served: dataset['prerendered'],
    visitor: document.documentElement.dataset['visitor'],
    isFilled: shown !== null && shown.token === token && !isUnreached,
  });
}

const after = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

const appOf = (router: RegisteredRouter) => (
  <StrictMode>
    <RouterProvider router={router} />
  </StrictMode>
);

/** A route keeps what loads its page until then. */
function lacksPage({ state, routesById }: RegisteredRouter): boolean {
  const route = routesById[state.matches.at(-1)?.routeId ?? '__root__'];
  return route.options.component?.preload !== undefined;
}

/** The crisis lines can be read without a server. */
function keepServed(): void {
  document.documentElement.dataset['visitor'] = 'unscripted';
}

function renderAnew(root: HTMLElement, router: RegisteredRouter): void {
  delete router.ssr;
  delete root.dataset['prerendered'];
  root.replaceChildren();
  flushSync(() => createRoot(root).render(appOf(router)));
  clearShownChat();
}

function hydrate(root: HTMLElement, router: RegisteredRouter): void {
  const restoreTypedInput = saveTypedInput(root);
  const onRecoverableError = (error: unknown) => {
    report(error);
    // React would not handle earlier events.
    setTimeout(restoreTypedInput);
  };
  // In slices, between which the page responds.
  startTransition(() => void hydrateRoot(root, appOf(router), { onRecoverableError }));
  restoreTypedInput();
  hydrateBeforeNavigation(root, router);
  delete root.dataset['prerendered'];
}

/** A page that was left cannot hydrate: https://github.com/TanStack/router/issues/8233 */
function hydrateBeforeNavigation(root: HTMLElement, router: RegisteredRouter): void {
  const unsubscribe = router.subscribe('onBeforeNavigate', ({ hrefChanged }) => {
    if (!hrefChanged) return;
    unsubscribe();
    // Such an event makes React hydrate its place at once.
    root.querySelector('main > *')?.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

/** The page works after a mismatch: only developers need to know. */
function report(error: unknown): void {
  // oxlint-disable-next-line no-console -- there is no other place for a message to developers
  console.error(error);
}
