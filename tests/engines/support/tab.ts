/** What both engines can do to a page. `page.ts` builds everything else on it. */
export type Tab = {
  goto: (url: string) => Promise<void>;
  /** Runs a function in the page, which sees its arguments alone. */
  run: <Args extends unknown[], Result>(
    work: (...args: Args) => Result | Promise<Result>,
    ...args: Args
  ) => Promise<Result>;
  /** Clicks at a point of the viewport, as a mouse does. */
  click: (x: number, y: number) => Promise<void>;
  /** Moves the mouse to a point of the viewport. */
  move: (x: number, y: number) => Promise<void>;
  /** Presses a key, alone or with a modifier: `Enter`, `Shift+Tab`. */
  press: (key: string) => Promise<void>;
  type: (text: string) => Promise<void>;
  resize: (width: number, height: number) => Promise<void>;
  picture: (file: `${string}.png`) => Promise<void>;
};

/** The browser itself has ended, or does not answer any more. No look at a page passes over it. */
export class BrowserEnded extends Error {}

/** A browser without a past. */
export type Visitor = {
  open: () => Promise<Tab>;
  /** The tab that the page itself has opened; null while there is none. */
  opened: () => Promise<Tab | null>;
  close: () => Promise<void>;
};

export type Engine = {
  name: EngineName;
  visit: () => Promise<Visitor>;
  close: () => Promise<void>;
};

export type EngineName = 'firefox' | 'webkit';
