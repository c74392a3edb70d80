import type { ChatPage } from '#contract/chat-schemas';
import { messagesPerPage } from '#contract/chat-limits';
import type { SendFailure } from '../data/fetch-in-time.ts';

/*
 * All that the served page, its inline scripts and the app agree on: marks of
 * elements, ids, keys of the storage, addresses and the one global. In which
 * order they run is in `web/README.md`.
 */

export type Visitor =
  /** Somebody with a stored session. */
  | 'returning'
  /** A guest whose address shows something else than what was served. */
  | 'special'
  /** Anybody who keeps what was served: the engine is too old, or a script has failed. */
  | 'unscripted';

/** What the build has rendered into the root: a whole page, one for guests alone, or a shell: a page without its data. */
export type Served = 'page' | 'guest-page' | 'shell';

/** The `data-` attributes, by their names. */
type Marks = {
  /** Of the document: who sees the page; missing for a guest. */
  visitor: Visitor;
  /** Of the document: how the visitor has come. After a reload, Back or Forward it is scrolled to where it was. */
  entry: NavigationTimingType;
  /** Of the document: the theme that somebody chose. */
  theme: 'light' | 'dark';
  /** Of the document: the language in which the page is offered, too. */
  offer: string;
  /** Of the root until React has taken over; missing where it is empty. */
  served: Served;
  /** Of the root: the route of the served page. */
  route: string;
  /** Of a form or button that was used before React listened. */
  sent: 'early';
  /** Of what only scripts make useful. */
  needs: 'scripts';
  /** Of a `theme-color`: what it is unless a theme is chosen. */
  color: string;
  /** Of the list of the chat's messages. */
  slot: 'messages';
  /** Of the box around the chat's field, which takes the height of this copy. */
  text: string;
};

export const marksOf = (element: HTMLElement) => element.dataset as Partial<Marks>;

export const documentMarks = () => marksOf(document.documentElement);

/** The attribute of a mark. */
export const markName = (mark: keyof Marks) => `data-${mark}`;

/** Marks as attributes of JSX. */
export const markAttributes = (set: Partial<Marks>) =>
  Object.fromEntries(Object.entries(set).map(([mark, value]) => [`data-${mark}`, value]));

/** The selector of what has such a mark. */
export const markSelector = <Mark extends keyof Marks>(mark: Mark, value: Marks[Mark]) =>
  `[data-${mark}=${value}]`;

export const rootId = 'root';

/** The selector of the root before React has taken over. */
export const servedAs = (served: Served) => `#${rootId}${markSelector('served', served)}`;

// Written out, since they are inline in the chat.
export const shellRoot = () => document.querySelector<HTMLElement>('#root[data-served=shell]');
export const messageList = '[data-slot=messages]';

/** Templates by id: preloads of the fonts, the app's files until the paint, and the frame: the main part of the chat around its messages. */
export type TemplateId = 'fonts' | 'late' | 'frame';

export const template = (id: TemplateId) =>
  document.querySelector<HTMLTemplateElement>(`template#${id}`);

/** The id of the link to the app's file in a shell, whose script imports the file. */
export const appId = 'app';

export const appLink = () => document.querySelector<HTMLLinkElement>(`link#${appId}`);

/** The class of what offers the page in another language. */
export const offerClass = 'offer';

/** Keys of what earlier visits have stored. */
export const tokenKey = 'authToken';
export const themeKey = 'theme';
export const languageKey = 'language';

/** Begins the hash of a link with a token of the assistant. */
export const externalTokenHash = '#external_token=';

/** The page for any address without a connection. */
export const offlinePath = '/offline';

export const profilePath = '/api/user/me';
export const newestMessagesPath = `/api/user/chat?limit=${messagesPerPage}`;

/** What the inline scripts have prepared; `early-start.ts` reads it for the app. */
export type EarlyStart = {
  /** The tokens of `/login#external_token=…` and `/activate-trial?token=…`. */
  externalToken?: string | null;
  trialToken?: string | null;
  /** The stored token, and responses to calls with it by path. */
  token?: string;
  responses: Record<string, Promise<Response | SendFailure>>;
  /** Resolves when the app of a shell may start; missing on other pages. */
  released?: Promise<void>;
  /** The conversation in the frame, until React has taken it over. */
  shownChat?: ShownChat | null;
};

export type ShownChat = {
  token: string;
  page: ChatPage;
  openedAt: number;
};

declare global {
  var earlyStart: EarlyStart | undefined;
}
