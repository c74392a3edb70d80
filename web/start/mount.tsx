import { RouterProvider, type RegisteredRouter } from '@tanstack/react-router';
import { startTransition, StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { clearShownChat, shownChat } from './early-start.ts';
import { session } from '../data/session.ts';
import { routeIdOf } from '../router.tsx';
import { documentMarks, marksOf } from './protocol.ts';
import { startMode } from './start-modes.ts';
import { saveTypedInput } from './typed-input.ts';

/** Until a page that does not come is shown as loading. */
const pageTimeoutMs = 10_000;

/** Starts the app on what was served. */
export async function mount(root: HTMLElement, router: RegisteredRouter): Promise<void> {
  const { served } = marksOf(root);

  switch (startMode(served, documentMarks().visitor)) {
    case 'page':
      await loadAsServed(router);
      if (lacksRouteFile(router)) return keepServed();
      return isServed(root, router) ? hydrate(root, router) : renderAnew(root, router);

    case 'shell':
      await loadAsServed(router);
      return isServed(root, router) && showsConversation()
        ? hydrate(root, router)
        : renderAnew(root, router);

    case 'specialPage':
      await Promise.race([router.load(), wait(pageTimeoutMs)]);
      return renderAnew(root, router);

    case 'empty':
      return renderAnew(root, router);
  }
}

/** With `ssr` the router renders without a Suspense boundary, as at build time. */
function loadAsServed(router: RegisteredRouter): Promise<void> {
  router.ssr = { manifest: undefined };
  return router.load();
}

/** Whether the route is the one that was served: a guard may have led to another. */
const isServed = (root: HTMLElement, router: RegisteredRouter) =>
  routeIdOf(router) === marksOf(root).route;

/** Whether the frame shows the messages of the present session, which may have ended meanwhile. */
function showsConversation(): boolean {
  const shown = shownChat();
  const { token, isUnreached } = session.get();
  return shown !== null && shown.token === token && !isUnreached;
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const appOf = (router: RegisteredRouter) => (
  <StrictMode>
    <RouterProvider router={router} />
  </StrictMode>
);

/** Whether the file of the route is missing: the route still has what loads it. */
function lacksRouteFile({ state, routesById }: RegisteredRouter): boolean {
  const route = routesById[state.matches.at(-1)?.routeId ?? '__root__'];
  return route.options.component?.preload !== undefined;
}

/** Leaves what was served, such as the crisis lines, which can be read without a server. */
function keepServed(): void {
  documentMarks().visitor = 'unscripted';
}

function renderAnew(root: HTMLElement, router: RegisteredRouter): void {
  delete router.ssr;
  delete marksOf(root).served;
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

  // A transition hydrates in slices, between which the page responds.
  startTransition(() => void hydrateRoot(root, appOf(router), { onRecoverableError }));
  restoreTypedInput();

  hydrateBeforeNavigation(root, router);
  delete marksOf(root).served;
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
