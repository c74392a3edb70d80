import { signatureOf, subjectOf } from '../rules/token-claims.ts';
import { storage, tabStorage } from './store.ts';

/** What people lose unwillingly: leaving the page asks first if the browser did not store it. */
const written = ['chat', 'contact', 'recording', 'statement'];
const writtenSignedOut = ['contact', 'statement'] as const;
export type KeptName =
  | 'chat'
  | 'contact'
  | 'recording'
  | 'statement'
  | 'phoneChange'
  | 'signInStep'
  | 'signInLockout';

/** Whose value it is, by the session's token; null for somebody who has not signed in. */
type Token = string | null;

const start = 'kept.';
const signedOutKey = 'signedOut';

/** The person of a session, also in another session of theirs. */
const personOf = (token: Token): string => (token ? (subjectOf(token) ?? signatureOf(token)) : '');

const keyOf = (name: KeptName, token: Token) => `${start}${name}.${personOf(token)}`;

/** Tells a session from others, and is of no use to anybody. */
const markOf = (token: Token): string => (token ? signatureOf(token).slice(-16) : '');

/**
 * What somebody has written or begun, and not finished: kept for the tab and the person. It outlives a reload, a discarded
 * tab and a session that ends by itself. It goes at a log-out by hand, and before anybody else signs in.
 */
class KeptInTab {
  #isReloading = false;
  #isUnfinished = () => false;
  /** Who has signed in last. */
  #newest: Token = null;

  /** Null if there is none. */
  read = (name: KeptName, token: Token): unknown => readKept(keyOf(name, token));

  keep(name: KeptName, token: Token, value: unknown): void {
    // What was still being made when its owner left, as a recording.
    if (this.isOver(token, this.#newest)) return;
    const key = keyOf(name, token);
    tabStorage.write(key, JSON.stringify([markOf(token), value]));
    if (!tabStorage.isStored(key)) this.#askBeforeLeaving();
  }

  remove(name: KeptName, token: Token): void {
    tabStorage.remove(keyOf(name, token));
  }

  /** Whether nothing of the first session's owner may stay: they have logged out by hand, or somebody else has signed in. */
  isOver(token: Token, current: Token): boolean {
    if (token === null) return false;
    const isOther = current !== null && personOf(current) !== personOf(token);
    return isOther || this.wasSignedOut(token);
  }

  /** Whether somebody whose session has ended finds something here after signing in again. */
  waitsForOwner(): boolean {
    const keys = keysWhere((name, person) => person !== '' && written.includes(name));
    return keys.some((key) => readKept(key) !== null);
  }

  /** Whether a reload would lose what was written. */
  isLostByReload(): boolean {
    const keys = keysWhere((name) => written.includes(name));
    return keys.some((key) => !tabStorage.isStored(key)) || this.#isUnfinished();
  }

  /** Loads the page again without a question, because nothing is lost by it. */
  reload(): void {
    this.#isReloading = true;
    location.reload();
  }

  isReloading = () => this.#isReloading;

  /** Nothing is left of anybody else when somebody has signed in. */
  keepOnly(token: string): void {
    const own = personOf(token);
    this.#newest = token;
    if (this.wasSignedOut(token)) storage.remove(signedOutKey);
    remove((_, person) => person !== '' && person !== own);
    adopt(token);
  }

  /** A log-out by hand. The other tabs see its mark. */
  signOut(token: string): void {
    storage.write(signedOutKey, markOf(token));
    remove(() => true);
  }

  wasSignedOut = (token: string) => storage.read(signedOutKey) === markOf(token);

  /** Leaving the page asks first while this is so; a reload loses it. */
  noteUnfinished(is: () => boolean): void {
    this.#isUnfinished = is;
    this.#askBeforeLeaving();
  }

  #askBeforeLeaving = () => addEventListener('beforeunload', this.#ask);

  #ask = (event: Event) => {
    if (this.isLostByReload()) event.preventDefault();
  };
}

export const keptInTab = /* @__PURE__ */ new KeptInTab();

function readKept(key: string): unknown {
  try {
    const [mark, value = null] = JSON.parse(tabStorage.read(key) ?? '[]');
    if (!mark || mark !== storage.read(signedOutKey)) return value;
    tabStorage.remove(key);
  } catch {
    // Another script's, or of another version.
  }
  return null;
}

/** What was written before anybody had signed in is theirs who sign in first, and no next person's. */
function adopt(token: string): void {
  for (const name of writtenSignedOut) {
    const value = readKept(keyOf(name, null));
    if (value !== null) keptInTab.keep(name, token, joined(keptInTab.read(name, token), value));
    tabStorage.remove(keyOf(name, null));
  }
}

/** The later fields that have a text take the place of the earlier ones; a letter follows the other. */
function joined(earlier: unknown, later: unknown): unknown {
  if (earlier === null || typeof later !== 'object') return later;
  const before: Record<string, unknown> = Object(earlier);
  const filled = Object.entries(Object(later)).filter(([, text]) => text !== '');
  const after: Record<string, unknown> = Object.fromEntries(filled);
  const letters = [before['message'], after['message']].filter(Boolean);
  const message = [...new Set(letters)].join('\n\n');
  return { ...before, ...after, ...(message && { message }) };
}

type Choice = (name: string, person: string) => boolean;

const keysWhere = (isWanted: Choice) =>
  tabStorage.allKeys().filter((key) => {
    const [, name = '', person = ''] = /^kept\.(\w+)\.(.*)$/.exec(key) ?? [];
    return name !== '' && isWanted(name, person);
  });

const remove = (isWanted: Choice) => keysWhere(isWanted).forEach((key) => tabStorage.remove(key));
