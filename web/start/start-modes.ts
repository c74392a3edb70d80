import type { Served, Visitor } from './protocol.ts';

/**
 * How the app starts on what was served: `mount.tsx` has a case for each mode. Before
 * that `start-styles.ts` hides what is not meant for the visitor.
 *
 * | served     | visitor   | mode        | at first   | then React                     |
 * | ---------- | --------- | ----------- | ---------- | ------------------------------ |
 * | page       | any       | page        | the page   | hydrates                       |
 * | guest-page | guest     | page        | the page   | hydrates                       |
 * | guest-page | special   | specialPage | nothing    | renders when the route is here |
 * | guest-page | returning | empty       | nothing    | renders at once                |
 * | nothing    | special   | specialPage | nothing    | renders when the route is here |
 * | nothing    | any other | empty       | nothing    | renders at once                |
 * | shell      | returning | shell       | the shell  | hydrates a chat with messages  |
 * | shell      | any other | shell       | nothing    | renders after a redirect       |
 *
 * For `unscripted` visitors `main.tsx` starts no app: what was served stays. So does a page without
 * the file of its route. After a redirect, and in a shell without messages, React renders anew. A
 * `specialPage` shows no spinner for 10 s, since a spinner would move the footer.
 */
export type StartMode = 'page' | 'specialPage' | 'empty' | 'shell';

export function startMode(served: Served | undefined, visitor: Visitor | undefined): StartMode {
  if (served === 'page' || served === 'shell') return served;

  // What was served is a guest's page, or nothing.
  if (visitor === 'special') return 'specialPage';
  if (visitor === 'returning' || served === undefined) return 'empty';
  return 'page';
}
