import { RouterProvider, type RegisteredRouter } from '@tanstack/react-router';
import { startTransition, StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { clearShownChat, shownChat } from '../data/early-start.ts';
import { session } from '../data/session.ts';
import { routeIdOf } from '../router.tsx';

/** The time (ms) after which a page that has not arrived is shown as loading. */
const patience = 10_000;

/** Hydrates the prerendered markup, or renders into the root if the markup does not match this visit. */
export async function mount(root: HTMLElement, router: RegisteredRouter): Promise<void> {
  const app = (
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>
  );
  const matches = await matchesMarkup(root, router);
  // The served page can be read, such as the crisis lines that are kept for a visit without a server.
  if (canHydrate(root) && lacksPage(router)) {
    document.documentElement.dataset['scripts'] = 'failed';
    return;
  }
  if (matches) {
    const restoreTypedInput = saveTypedInput(root);
    const onRecoverableError = (error: unknown) => {
      report(error);
      // Until then React is working on the page, and would not handle the events.
      setTimeout(restoreTypedInput);
    };
    // In slices, between which the page responds.
    startTransition(() => void hydrateRoot(root, app, { onRecoverableError }));
    restoreTypedInput();
    hydrateBeforeNavigation(root, router);
    delete root.dataset['prerendered'];
    return;
  }
  delete router.ssr;
  // A guest's page is hidden anyway; its header alone, and the page afterwards, would move the footer.
  if (isGuestsAddress())
    await Promise.race([router.load(), new Promise((resolve) => setTimeout(resolve, patience))]);
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

/** A route keeps what loads its page until that has loaded. */
function lacksPage({ state, routesById }: RegisteredRouter): boolean {
  const route = routesById[state.matches.at(-1)?.routeId ?? '__root__'];
  return route.options.component?.preload !== undefined;
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
  return (
    prerendered === 'page' ||
    (prerendered === 'guest-page' && visitor === undefined && address === undefined)
  );
}

function isGuestsAddress(): boolean {
  const { visitor, address } = document.documentElement.dataset;
  return visitor === undefined && address !== undefined;
}

/** A page that its router has left cannot hydrate: https://github.com/TanStack/router/issues/8233 */
function hydrateBeforeNavigation(root: HTMLElement, router: RegisteredRouter): void {
  const unsubscribe = router.subscribe('onBeforeNavigate', ({ hrefChanged }) => {
    if (!hrefChanged) return;
    unsubscribe();
    // React hydrates the place of such an event synchronously.
    root.querySelector('main > *')?.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

/** React rendered the page again after a mismatch. The visitor sees a working page, so only developers are notified. */
function report(error: unknown): void {
  // oxlint-disable-next-line no-console -- there is no other place for a message to developers
  console.error(error);
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/**
 * Saves what a visitor enters, has submitted or pressed; the returned function restores it, since React overwrites it when
 * it takes the page over, and again when it has to render the page anew.
 */
function saveTypedInput(root: HTMLElement): () => void {
  let sent = root.querySelector<HTMLFormElement | HTMLButtonElement>('[data-sent]');
  delete sent?.dataset['sent'];
  const fields = () => [...root.querySelectorAll<Field>('input, textarea, select')];
  const typed = new Map<string, string>();
  const note = ({ id, name, value }: Field) => typed.set(name || id, value);
  fields()
    .filter((field) => field.value !== servedValue(field))
    .forEach(note);
  root.addEventListener('input', ({ target }) => note(target as Field));
  return () => {
    const values = new Map(typed);
    for (const field of fields()) {
      const value = values.get(field.name || field.id);
      if (value) typeAgain(field, value);
    }
    // After React has rendered the restored values.
    const again = sent;
    if (again) setTimeout(() => ('requestSubmit' in again ? again.requestSubmit() : again.click()));
    sent = null;
  };
}

function servedValue(field: Field): string {
  if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
  return [...field.options].find(({ defaultSelected }) => defaultSelected)?.value ?? '';
}

function typeAgain(field: Field, value: string): void {
  const type = field instanceof HTMLSelectElement ? 'change' : 'input';
  const dispatchChange = () => field.dispatchEvent(new Event(type, { bubbles: true }));
  const selection: [number, number] | null =
    field instanceof HTMLTextAreaElement ? [field.selectionStart, field.selectionEnd] : null;
  // React uses the first event to hydrate this place synchronously, and handles only the second.
  dispatchChange();
  // React sees a change from the served value only by the prototype's setter, since it tracks the field's own.
  if (field.value === value) field.value = servedValue(field);
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
  if (selection && field instanceof HTMLTextAreaElement) field.setSelectionRange(...selection);
  dispatchChange();
}
