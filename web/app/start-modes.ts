/**
 * How a page starts. React waits for the page's file and data (`page`), for ten seconds at most (`a while`), or not at
 * all; then it takes over the markup that was served, or renders in its place.
 */
export const startModes = {
  // Public pages.
  page: { seenBy: 'everybody', waitsFor: 'page', takesOver: true },
  // The login and forms, whose served markup is right for a guest at the plain address.
  guestPage: { seenBy: 'guests', waitsFor: 'page', takesOver: true },
  // A guest at an address with values: hidden, since its header alone, and the page afterwards, would move the footer.
  specialPage: { seenBy: 'nobody', waitsFor: 'a while', takesOver: false },
  // A returning user at a guests' page; and pages that are served empty.
  empty: { seenBy: 'nobody', waitsFor: 'nothing', takesOver: false },
  // The account and the chat, which stay until they can be rendered with their data.
  shell: { seenBy: 'returning users', waitsFor: 'page', takesOver: false },
  // The chat with the messages that `early/` has put into it.
  conversation: { seenBy: 'its owner', waitsFor: 'page', takesOver: true },
} as const;

export type StartMode = keyof typeof startModes;

/** What is known when the app starts. */
type Start = {
  /** `data-prerendered` of the root. */
  served: string | undefined;
  /** `data-visitor` of the document, by `head-script.ts`. */
  visitor: string | undefined;
  /** Whether the shell shows the conversation of the current session. */
  isFilled: boolean;
};

export function startMode({ served, visitor, isFilled }: Start): StartMode {
  if (served === 'page') return 'page';
  if (served === 'shell') return isFilled ? 'conversation' : 'shell';
  if (visitor === 'special') return 'specialPage';
  if (served === undefined || visitor === 'returning') return 'empty';
  return 'guestPage';
}
