/**
 * Most of what the served page, the scripts of its head and the app agree on;
 * parts of the chat are found by `data-slot`.
 *
 * 1. The build renders a page, or a shell without data, into the root
 *    (`build/render.tsx`). A template holds the app back.
 * 2. `head-script.ts` notes on the document who sees the page, and sends
 *    the first calls. `start-styles.ts` shows what this visitor may see.
 * 3. In the shell of the chat `chat/fill-chat.tsx` shows the newest messages.
 * 4. The template's content goes into the head. It starts the app, or in a shell
 *    preloads it: there `release-app.ts` starts it. Then `mount.tsx` takes over
 *    what was served.
 */

export type Visitor =
  /** Somebody with a stored session. */
  | 'returning'
  /** A guest whose address shows something else than what was served. */
  | 'special'
  /** Anybody for whom what was served must do: no script will run, or one has failed. */
  | 'unscripted';

/** Attributes of the document, such as `data-visitor`. */
type DocumentMarks = {
  /** Who sees the page; missing for a guest. */
  visitor?: Visitor;
  /** The theme that somebody chose. */
  theme?: 'light' | 'dark';
  /** The language in which the page is offered, too. */
  offer?: string;
};

export const documentMarks = () => document.documentElement.dataset as DocumentMarks;

/** What the build has rendered into the root. */
export type Served = 'page' | 'guest-page' | 'shell';

/** Attributes of the root. */
type RootMarks = {
  /** Missing in an empty root, and once React has taken over. */
  prerendered?: Served;
  /** The route of the served page. */
  route?: string;
};

export const rootId = 'root';

export const rootMarks = (root: HTMLElement) => root.dataset as RootMarks;

export const shellRoot = () => document.querySelector<HTMLElement>(servedAs('shell'));

/** Selects the document that such a visitor sees. */
export const seenBy = (visitor: Visitor) => `[data-visitor=${visitor}]`;

/** Selects the root before React has taken over. */
export const servedAs = (served: Served) => `#${rootId}[data-prerendered=${served}]`;

/** What a held app waits for. */
export type HeldUntil = 'paint' | 'parsed';

/**
 * The template of a held app. `old-engine.js` removes its attribute, so that
 * no app starts in too old an engine.
 */
export const heldApp = () => document.querySelector<HTMLTemplateElement>('[data-until]');

export const heldUntil = ({ dataset }: HTMLElement) => dataset['until'] as HeldUntil;

/** The id of the app's file in a shell, whose own script starts it. */
export const appId = 'app';

export const appLink = () => document.querySelector<HTMLLinkElement>(`link#${appId}`);

/** Templates by id: preloads of the fonts, and the chat around messages. */
export type TemplateId = 'fonts' | 'filled';

export const template = (id: TemplateId) =>
  document.querySelector<HTMLTemplateElement>(`template#${id}`);

/** Attributes of a form or button that was used before React listened. */
type UsedMarks = { sent?: 'early' };

export const usedMarks = (element: HTMLElement) => element.dataset as UsedMarks;

export const usedEarly = '[data-sent]';

/** Begins the hash of a link with a token of the assistant. */
export const externalTokenHash = '#external_token=';
