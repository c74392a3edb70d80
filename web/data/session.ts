import type { User } from '../rules/user-profile.ts';
import { storage, tabStorage, createStore } from './store.ts';
import { keptInTab } from './kept-in-tab.ts';
import { signatureOf } from '../rules/token-claims.ts';
import { useSyncExternalStore } from 'react';
import type { Destination } from '../rules/destinations.ts';

export const tokenKey = 'authToken';

export type Session = {
  token: string | null;
  /** The user of the token, from the query cache, which owns it. */
  user: User | null;
  isInitializing: boolean;
  isLoading: boolean;
  /** A trial link has replaced the session of another account, and nobody has dismissed the notice in this tab. */
  isSwitched: boolean;
};

export type ProfileCache = {
  get: (token: string) => User | null;
  set: (token: string, user: User) => void;
  remove: (token: string) => void;
  isLoading: (token: string) => boolean;
};

/** The state before the visitor is known, in which pages are prerendered. */
const initialSession: Session = {
  token: null,
  user: null,
  isInitializing: true,
  isLoading: false,
  isSwitched: false,
};
const switchedKey = 'switchedTo';
const asideKey = 'tokenAside';
const store = createStore({
  token: null as string | null,
  /** The signature of the token that has replaced another one. */
  switchedTo: tabStorage.read(switchedKey),
  /** The token whose owner needs a code for more than it allows. */
  limitedToken: null as string | null,
  /** How many initializations have begun and not ended; the first begins with the page. */
  initializations: 1,
  /** Loads only for visitors who sign in or return. */
  profiles: null as ProfileCache | null,
});

/** The current token. Its user is read from the query cache each time. */
export const session = {
  get: (): Session => {
    const { token, switchedTo, initializations, profiles } = store.get();
    return {
      token,
      user: token ? (profiles?.get(token) ?? null) : null,
      isInitializing: initializations > 0,
      isLoading: token ? (profiles?.isLoading(token) ?? false) : false,
      isSwitched: token !== null && signatureOf(token) === switchedTo,
    };
  },
  subscribe: store.subscribe,
  storedToken: () => storage.read(tokenKey),

  /** Reads profiles from the query cache. */
  connect: (profiles: ProfileCache) => store.set({ profiles }),
  /** Tells the listeners that the cache has another profile. */
  refresh: () => store.set({}),

  beginInitialization: () => store.set({ initializations: store.get().initializations + 1 }),
  endInitialization: () => store.set({ initializations: store.get().initializations - 1 }),

  /** Stores a new token and makes it the current one. Returns the replaced token, if any. */
  start(token: string): string | null {
    const replaced = storage.read(tokenKey);
    storage.write(tokenKey, token);
    tabStorage.remove(asideKey);
    setToken(token);
    return replaced === token ? null : replaced;
  },

  /** Shows whose account this is for as long as the session of this token is open in the tab; null ends it. */
  markSwitched(token: string | null): void {
    const switchedTo = token && signatureOf(token);
    if (switchedTo) tabStorage.write(switchedKey, switchedTo);
    else tabStorage.remove(switchedKey);
    store.set({ switchedTo });
  },

  /** Opens the login, with the number filled in, to the session of this token. */
  askForCode: (token: string) => store.set({ limitedToken: token }),
  needsCode(): boolean {
    const { token, limitedToken } = store.get();
    return limitedToken !== null && limitedToken === token;
  },

  /** Makes the stored token, from another tab or an earlier visit, the current one. */
  follow: (token: string | null) => setToken(token),

  /** Ends the session of a token because its owner wants it: nothing of what they wrote stays. */
  signOut(token: string): void {
    keptInTab.signOut(token);
    session.end(token);
  },

  /** Ends the session of a token, and no other. The stored token can be kept for the next visit. */
  end(token: string, { keepStored = false } = {}): void {
    if (!keepStored && storage.read(tokenKey) === token) storage.remove(tokenKey);
    if (store.get().token === token) setToken(null);
  },

  /** Ends the session on this page alone, and keeps its token for this tab until somebody signs in. */
  putAside(token: string): void {
    session.end(token);
    tabStorage.write(asideKey, token);
  },
  isAside: () => tabStorage.read(asideKey) !== null,
  /** Stores the token that was put aside; the next page that loads is of its account. */
  takeBack(): void {
    const token = tabStorage.read(asideKey);
    if (token !== null) storage.write(tokenKey, token);
    tabStorage.remove(asideKey);
  },

  updateUser(change: (user: User) => User): void {
    const { token, user } = session.get();
    if (token && user) store.get().profiles?.set(token, change(user));
  },

  /** Sets the number of used messages, or adds one. */
  setMessagesUsed(count?: number): void {
    session.updateUser((user) => {
      const used = count ?? user.messagesUsedThisPeriod + 1;
      const metadata = { ...user.metadata, messagesUsedThisPeriod: used };
      return { ...user, messagesUsedThisPeriod: used, metadata };
    });
  },
};

function setToken(token: string | null): void {
  const before = store.get().token;
  // Before the listeners, which may show what is kept.
  if (token && token !== before) keptInTab.keepOnly(token);
  store.set({ token });
  if (!before || before === token) return;
  store.get().profiles?.remove(before);
  // By hand in another tab.
  if (token === null && keptInTab.wasSignedOut(before)) keptInTab.signOut(before);
}

/** Resolves when it is known whether the visitor is signed in. */
export function sessionReady(): Promise<Session> {
  return new Promise((resolve) => {
    const check = () => {
      if (session.get().isInitializing) return;
      unsubscribe();
      resolve(session.get());
    };
    const unsubscribe = session.subscribe(check);
    check();
  });
}

/** A part of the session. The selector must return a stored value, never a new object. */
export function useSession<T>(select: (session: Session) => T): T {
  return useSyncExternalStore(
    session.subscribe,
    () => select(session.get()),
    () => select(initialSession),
  );
}

export type Visitor = 'unknown' | 'guest' | 'member';

/** The kind of visitor; unknown at build time and while a session starts. */
export function useVisitor(): Visitor {
  return useSession(({ user, isInitializing }) =>
    user ? 'member' : isInitializing ? 'unknown' : 'guest',
  );
}

/** `comesBack`: a sign-in leads back to the page that is left. */
type Options = { comesBack?: true; search?: Record<string, string> };
type Listener = (to: Destination, options?: Options) => Promise<void>;

/** Where a redirect goes: the router, which the data layer does not import. */
const redirects = createStore<{ to: Listener }>({ to: async () => {} });

export const onRedirect = (to: Listener): void => redirects.set({ to });

export const redirectTo: Listener = (to, options) => redirects.get().to(to, options);
