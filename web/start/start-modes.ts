import type { Served, Visitor } from './protocol.ts';

/** How the app starts on what was served; `mount.tsx` has a case for each. */
export type StartMode =
  /** This visitor may read what was served. React takes it over, or renders anew after a redirect. Without the route's file the page stays as it was served. */
  | 'page'
  /** The address has values, so that something else follows. Nothing is shown until the route has loaded, at most 10 s: a spinner would move the footer. Then React renders anew. */
  | 'specialPage'
  /** Nothing was served for this visitor. React renders anew at once, with a spinner while a stored session starts. */
  | 'empty'
  /** The frame of the account or the chat. React takes over the messages that `chat/` has put in; without them it renders anew. */
  | 'shell';

export function startMode(served: Served | undefined, visitor: Visitor | undefined): StartMode {
  if (served === 'page' || served === 'shell') return served;
  // Only guests may read what was served, or nothing was.
  if (visitor === 'special') return 'specialPage';
  if (visitor === 'returning' || served === undefined) return 'empty';
  return 'page';
}
