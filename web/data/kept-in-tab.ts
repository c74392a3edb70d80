import { signatureOf, subjectOf, tokenMark } from '../rules/token-claims.ts';
import { storage, tabStorage } from './store.ts';

/** Names of texts that somebody has written: the browser asks before they are lost. */
const written = ['chat', 'contact', 'recording', 'statement'];
const writtenSignedOut = ['contact', 'statement'] as const;
export type KeptName =
  | 'chat'
  | 'contact'
  | 'recording'
  | 'slice'
  | 'statement'
  | 'phoneChange'
  | 'receipt'
  | 'signInStep'
  | 'signInLockout';

/** The token of the writer; null if nobody has signed in. */
type Token = string | null;

/** Numbered, so that each is written once. */
type PartName = KeptName | `slice${number}`;

const keyPrefix = 'kept.';
const signedOutKey = 'signedOut';

/** Identifies a person in all their sessions. */
const personOf = (token: Token): string => (token ? (subjectOf(token) ?? signatureOf(token)) : '');

const keyOf = (name: PartName, token: Token) => `${keyPrefix}${name}.${personOf(token)}`;

/** Keeps values through reloads and ended sessions, until somebody signs out by hand or another person signs in. */
class KeptInTab {
  #isReloading = false;
  #isUnfinished = () => false;
  #newest: Token = null;
  /** The writers of forms whose session ended while the form was open. */
  readonly #interruptedWriters = new Map<KeptName, string>();

  read = (name: PartName, token: Token): unknown => readKept(keyOf(name, token));

  /** Whether it outlives the page. */
  keep(name: PartName, token: Token, value: unknown): boolean {
    // A recording may be finished after its owner has left.
    if (this.isWriterGone(token, this.#newest)) return false;
    const key = keyOf(name, token);
    tabStorage.write(key, JSON.stringify([token ? tokenMark(token) : '', value]));
    const isStored = tabStorage.isStored(key);
    if (!isStored) this.#askBeforeLeaving();
    return isStored;
  }

  /** All of a name's parts. */
  remove(name: KeptName, token: Token): void {
    const owner = personOf(token);
    remove((each, person) => each === name && person === owner);
  }

  /** Whether the writer has signed out by hand, or somebody else has signed in. */
  isWriterGone(token: Token, current: Token): boolean {
    if (token === null) return false;
    const isOther = current !== null && personOf(current) !== personOf(token);
    return isOther || this.wasSignedOut(token);
  }

  noteInterruptedWriter(name: KeptName, token: string): void {
    this.#interruptedWriters.set(name, token);
  }

  /** Returns the writer whose session ended in front of this form, once and not after a reload. */
  takeInterruptedWriter(name: KeptName): Token {
    const token = this.#interruptedWriters.get(name) ?? null;
    this.#interruptedWriters.delete(name);
    return token;
  }

  /** Whether the tab keeps texts of somebody whose session has ended by itself. */
  waitsForOwner(): boolean {
    const keys = keysWhere((name, person) => person !== '' && written.includes(name));
    return keys.some((key) => readKept(key) !== null);
  }

  isLostByReload(): boolean {
    const keys = keysWhere((name) => written.includes(name));
    return keys.some((key) => !tabStorage.isStored(key)) || this.#isUnfinished();
  }

  /** Reloads without the browser's question, since nothing is lost. */
  reload(): void {
    this.#isReloading = true;
    location.reload();
  }

  isReloading = () => this.#isReloading;

  keepOnly(token: string): void {
    const own = personOf(token);
    this.#newest = token;
    this.#interruptedWriters.clear();
    if (this.wasSignedOut(token)) storage.remove(signedOutKey);
    remove((_, person) => person !== '' && person !== own);
    giveToSignedIn(token);
    this.remove('receipt', null);
  }

  /** Removes what the person has written, in other tabs by a stored mark. */
  removeAll(token: string): void {
    storage.write(signedOutKey, tokenMark(token));
    remove(() => true);
  }

  wasSignedOut = (token: string) => storage.read(signedOutKey) === tokenMark(token);

  /** Notes what a reload would lose, so that the browser asks before. */
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
  const { mark, value } = parsed(tabStorage.read(key));
  const wasSignedOut = mark !== null && mark === storage.read(signedOutKey);
  if (!wasSignedOut) return value;
  tabStorage.remove(key);
  return null;
}

/** Returns nulls for what another script or another version has stored. */
function parsed(text: string | null): { mark: string | null; value: unknown } {
  try {
    const [mark = null, value = null] = JSON.parse(text ?? '[]');
    return { mark: mark || null, value };
  } catch {
    return { mark: null, value: null };
  }
}

/** Gives texts that were written without a session to the first person who signs in. */
function giveToSignedIn(token: string): void {
  for (const name of writtenSignedOut) {
    const value = readKept(keyOf(name, null));
    if (value !== null)
      keptInTab.keep(name, token, joinedForms(keptInTab.read(name, token), value));
    tabStorage.remove(keyOf(name, null));
  }
}

/** Joins two forms by field, the later first. A letter is appended to the other. */
function joinedForms(earlier: unknown, later: unknown): unknown {
  if (earlier === null || typeof later !== 'object') return later;
  const before: Record<string, unknown> = Object(earlier);
  const filled = Object.entries(Object(later)).filter(([, text]) => text !== '');
  const after: Record<string, unknown> = Object.fromEntries(filled);
  const letters = [before['message'], after['message']].filter(Boolean);
  const message = [...new Set(letters)].join('\n\n');
  return { ...before, ...after, ...(message && { message }) };
}

type IsChosen = (name: string, person: string) => boolean;

const keysWhere = (isWanted: IsChosen) =>
  tabStorage.allKeys().filter((key) => {
    if (!key.startsWith(keyPrefix)) return false;
    const part = key.slice(keyPrefix.length);
    const [, name = '', person = ''] = /^([a-z]+)\d*\.(.*)$/i.exec(part) ?? [];
    return name !== '' && isWanted(name, person);
  });

const remove = (isWanted: IsChosen) => keysWhere(isWanted).forEach((key) => tabStorage.remove(key));
