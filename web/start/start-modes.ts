import type { Served, Visitor } from './protocol.ts';

/** How the app starts on what was served; `mount.tsx` has a case for each. */
export type StartMode =
  /** A page that this visitor may read: React takes it over, or leaves it if the page's file does not come. */
  | 'page'
  /** Nothing is seen for at most 10 s, since a footer would move: React renders anew at an address with values. */
  | 'specialPage'
  /** Nothing is seen: React renders anew, and shows returning users that it loads. */
  | 'empty'
  /** The frame of the account or the chat: React renders anew, or takes over the messages of `chat/`. */
  | 'shell';

export function startMode(served: Served | undefined, visitor: Visitor | undefined): StartMode {
  if (served === 'page' || served === 'shell') return served;
  // A page for guests, or none.
  if (visitor === 'special') return 'specialPage';
  if (visitor === 'returning' || served === undefined) return 'empty';
  return 'page';
}
