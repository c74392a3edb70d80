/** React waits for file and data (`page`), ten seconds at most (`a while`), or not at all. */
export const startModes = {
  // Public pages.
  page: { seenBy: 'everybody', waitsFor: 'page', takesOver: true },
  // The login and forms: right at the plain address.
  guestPage: { seenBy: 'guests', waitsFor: 'page', takesOver: true },
  // At an address with values: hidden, since its footer would move.
  specialPage: { seenBy: 'nobody', waitsFor: 'a while', takesOver: false },
  // Returning users at a guests' page; pages served empty.
  empty: { seenBy: 'nobody', waitsFor: 'nothing', takesOver: false },
  // Account and chat, until their data is here.
  shell: { seenBy: 'returning users', waitsFor: 'page', takesOver: false },
  // The chat with the messages of `early/`.
  conversation: { seenBy: 'its owner', waitsFor: 'page', takesOver: true },
} as const;

export type StartMode = keyof typeof startModes;

type Start = {
  /** `data-prerendered` of the root. */
  served: string | undefined;
  /** `data-visitor`, by `head-script.ts`. */
  visitor: string | undefined;
  /** With the current session's conversation. */
  isFilled: boolean;
};

export function startMode({ served, visitor, isFilled }: Start): StartMode {
  if (served === 'page') return 'page';
  if (served === 'shell') return isFilled ? 'conversation' : 'shell';
  if (visitor === 'special') return 'specialPage';
  if (served === undefined || visitor === 'returning') return 'empty';
  return 'guestPage';
}
