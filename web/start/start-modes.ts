import type { Served, Visitor } from './protocol.ts';

/**
 * How the app starts on what was served. It waits for the page's file and
 * data, at most 10 s, or not at all; then React takes over what is there, or
 * renders anew. A page that is worth reading stays if its file does not come.
 */
export const startModes = {
  // Public pages, which everybody sees.
  page: { waitsFor: 'page', takesOver: true, keepsServed: true },
  // The login and forms at the plain address, which guests see.
  guestPage: { waitsFor: 'page', takesOver: true, keepsServed: true },
  // The same at an address with values: hidden, since its footer would move.
  specialPage: { waitsFor: 'page, 10 s', takesOver: false, keepsServed: false },
  // Returning users at a guests' page, and pages served empty: nothing is seen.
  empty: { waitsFor: 'nothing', takesOver: false, keepsServed: false },
  // Account and chat until their data is here, which returning users see.
  shell: { waitsFor: 'page', takesOver: false, keepsServed: false },
  // The chat with the messages of `chat/`, which its owner sees.
  conversation: { waitsFor: 'page', takesOver: true, keepsServed: false },
} as const;

export type StartMode = keyof typeof startModes;

type Start = {
  served: Served | undefined;
  visitor: Visitor | undefined;
  /** The shell shows the current session's conversation. */
  isFilled: boolean;
};

export function startMode({ served, visitor, isFilled }: Start): StartMode {
  if (served === 'page') return 'page';
  if (served === 'shell') return isFilled ? 'conversation' : 'shell';
  if (visitor === 'special') return 'specialPage';
  if (served === undefined || visitor === 'returning') return 'empty';
  return 'guestPage';
}
