import { RouterProvider, type RegisteredRouter } from '@tanstack/react-router';
import { startTransition, StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { clearShownChat, shownChat } from './early-start.ts';
import { session } from '../data/session.ts';
import { routeIdOf } from '../router.tsx';
import { documentMarks, rootMarks } from './protocol.ts';
import { startMode, startModes, type StartMode } from './start-modes.ts';
import { saveTypedInput } from './typed-input.ts';

/** ms until a page that does not come is shown as loading. */
const patience = 10_000;

/** Waits as `start-modes.ts` says, then takes over what was served, or renders in its place. */
export async function mount(root: HTMLElement, router: RegisteredRouter): Promise<void> {
  const { waitsFor } = startModes[modeOf(root)];
  // The router then renders without a Suspense boundary, as at build time.
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

/** Decides by the mode of now: a session may have ended meanwhile. */
function endOf(root: HTMLElement, router: RegisteredRouter): End {
  const { takesOver, keepsServed } = startModes[modeOf(root)];
  if (keepsServed && lacksPage(router)) return 'keepServed';
  const isSamePage = routeIdOf(router) === rootMarks(root).route;
  return takesOver && isSamePage ? 'hydrate' : 'renderAnew';
}

function modeOf(root: HTMLElement): StartMode {
  const shown = shownChat();
  const { token, isUnreached } = session.get();
  return startMode({
    served: rootMarks(root).prerendered,
    visitor: documentMarks().visitor,
    isFilled: shown !== null && shown.token === token && !isUnreached,
  });
}

const after = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

const appOf = (router: RegisteredRouter) => (
  <StrictMode>
    <RouterProvider router={router} />
  </StrictMode>
);

/** Whether the file of the page is missing: the route still has what loads it. */
function lacksPage({ state, routesById }: RegisteredRouter): boolean {
  const route = routesById[state.matches.at(-1)?.routeId ?? '__root__'];
  return route.options.component?.preload !== undefined;
}

/** Leaves what was served, such as the crisis lines, which can be read without a server. */
function keepServed(): void {
  documentMarks().visitor = 'unscripted';
}

function renderAnew(root: HTMLElement, router: RegisteredRouter): void {
  delete router.ssr;
  delete rootMarks(root).prerendered;
  root.replaceChildren();
  flushSync(() => createRoot(root).render(appOf(router)));
  clearShownChat();
}

function hydrate(root: HTMLElement, router: RegisteredRouter): void {
  const restoreTypedInput = saveTypedInput(root);
  const onRecoverableError = (error: unknown) => {
    report(error);
    // React has rendered again by then, and handles the repeated input.
    setTimeout(restoreTypedInput);
  };
  // In slices, between which the page responds.
  startTransition(() => void hydrateRoot(root, appOf(router), { onRecoverableError }));
  restoreTypedInput();
  hydrateBeforeNavigation(root, router);
  delete rootMarks(root).prerendered;
}

/** Hydrates the page before the router leaves it: React cannot do so later (https://github.com/TanStack/router/issues/8233). */
function hydrateBeforeNavigation(root: HTMLElement, router: RegisteredRouter): void {
  const unsubscribe = router.subscribe('onBeforeNavigate', ({ hrefChanged }) => {
    if (!hrefChanged) return;
    unsubscribe();
    // Such an event makes React hydrate its place at once.
    root.querySelector('main > *')?.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

/** Tells developers alone about a mismatch, since the page works after it. */
function report(error: unknown): void {
  // oxlint-disable-next-line no-console -- there is no other place for a message to developers
  console.error(error);
}
