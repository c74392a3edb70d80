import { signatureOf, subjectOf } from '../rules/token-claims.ts';
import { storage, tabStorage } from './store.ts';

/** Leaving the page asks first if it is not stored. */
const written = ['chat', 'contact', 'recording', 'statement'];
const writtenSignedOut = ['contact', 'statement'] as const;
export type KeptName =
  | 'chat'
  | 'contact'
  | 'recording'
  | 'slice'
  | 'statement'
  | 'phoneChange'
  | 'signInStep'
  | 'signInLockout';

/** Null for somebody who has not signed in. */
type Token = string | null;

/** Numbered, so that each is written once. */
type PartName = KeptName | `slice${number}`;

const start = 'kept.';
const signedOutKey = 'signedOut';

/** The same in another session of theirs. */
const personOf = (token: Token): string => (token ? (subjectOf(token) ?? signatureOf(token)) : '');

const keyOf = (name: PartName, token: Token) => `${start}${name}.${personOf(token)}`;

/** Tells sessions apart, and opens nothing. */
const markOf = (token: Token): string => (token ? signatureOf(token).slice(-16) : '');

/** Outlives reloads and ended sessions, not a log-out by hand or another's sign-in. */
class KeptInTab {
  #isReloading = false;
  #isUnfinished = () => false;
  #newest: Token = null;
  /** Whose session ended in front of a form. */
  readonly #left = new Map<KeptName, string>();

  read = (name: PartName, token: Token): unknown => readKept(keyOf(name, token));

  /** Whether it outlives the page. */
  keep(name: PartName, token: Token, value: unknown): boolean {
    // Still being made when its owner left, as a recording.
    if (this.isOver(token, this.#newest)) return false;
    const key = keyOf(name, token);
    tabStorage.write(key, JSON.stringify([markOf(token), value]));
    const isStored = tabStorage.isStored(key);
    if (!isStored) this.#askBeforeLeaving();
    return isStored;
  }

  /** All of a name's parts. */
  remove(name: KeptName, token: Token): void {
    const owner = personOf(token);
    remove((each, person) => each === name && person === owner);
  }

  /** After a log-out by hand, or when somebody else signed in. */
  isOver(token: Token, current: Token): boolean {
    if (token === null) return false;
    const isOther = current !== null && personOf(current) !== personOf(token);
    return isOther || this.wasSignedOut(token);
  }

  noteLeft(name: KeptName, token: string): void {
    this.#left.set(name, token);
  }

  /** Who goes on with the form is who began: once, and not after a reload. */
  takeLeft(name: KeptName): Token {
    const token = this.#left.get(name) ?? null;
    this.#left.delete(name);
    return token;
  }

  /** After the session has ended by itself. */
  waitsForOwner(): boolean {
    const keys = keysWhere((name, person) => person !== '' && written.includes(name));
    return keys.some((key) => readKept(key) !== null);
  }

  isLostByReload(): boolean {
    const keys = keysWhere((name) => written.includes(name));
    return keys.some((key) => !tabStorage.isStored(key)) || this.#isUnfinished();
  }

  /** No question: nothing is lost. */
  reload(): void {
    this.#isReloading = true;
    location.reload();
  }

  isReloading = () => this.#isReloading;

  keepOnly(token: string): void {
    const own = personOf(token);
    this.#newest = token;
    this.#left.clear();
    if (this.wasSignedOut(token)) storage.remove(signedOutKey);
    remove((_, person) => person !== '' && person !== own);
    adopt(token);
  }

  /** The other tabs see its mark. */
  signOut(token: string): void {
    storage.write(signedOutKey, markOf(token));
    remove(() => true);
  }

  wasSignedOut = (token: string) => storage.read(signedOutKey) === markOf(token);

  /** Leaving asks first; a reload loses it. */
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

/** Text of nobody is theirs who sign in first. */
function adopt(token: string): void {
  for (const name of writtenSignedOut) {
    const value = readKept(keyOf(name, null));
    if (value !== null) keptInTab.keep(name, token, joined(keptInTab.read(name, token), value));
    tabStorage.remove(keyOf(name, null));
  }
}

/** Later fields replace earlier ones; a letter follows the other. */
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
    const [, name = '', person = ''] = /^kept\.([a-z]+)\d*\.(.*)$/i.exec(key) ?? [];
    return name !== '' && isWanted(name, person);
  });

const remove = (isWanted: Choice) => keysWhere(isWanted).forEach((key) => tabStorage.remove(key));
