import type { User } from '../rules/user-profile.ts';
import { storage, tabStorage, createStore } from './store.ts';
import { keptInTab } from './kept-in-tab.ts';
import { signatureOf } from '../rules/token-claims.ts';
import { useSyncExternalStore } from 'react';
import { tokenKey } from '../start/protocol.ts';

export type Session = {
  token: string | null;
  user: User | null;
  isInitializing: boolean;
  isLoading: boolean;
  /** Whether a redirect runs: this page must not show what guests see. */
  isRedirecting: boolean;
  isSwitched: boolean;
  isUnreached: boolean;
};

export type ProfileCache = {
  get: (token: string) => User | null;
  set: (token: string, user: User) => void;
  remove: (token: string) => void;
  isLoading: (token: string) => boolean;
};

/** The session with which pages are prerendered. */
const initialSession: Session = {
  token: null,
  user: null,
  isInitializing: true,
  isLoading: false,
  isRedirecting: false,
  isSwitched: false,
  isUnreached: false,
};
const switchedKey = 'switchedTo';
const asideKey = 'tokenAside';
const store = createStore({
  token: null as string | null,
  /** The signature of a token that replaced another account's. */
  switchedTo: tabStorage.read(switchedKey),
  /** A trial link's token, whose owner needs a code for more. */
  limitedToken: null as string | null,
  /** The token whose profile could not be read in an outage. */
  unreachedToken: null as string | null,
  /** Number of initializations that run; the first begins with the page. */
  initializations: 1,
  redirects: 0,
  /** The cache of profiles, which loads for visitors who sign in or return. */
  profiles: null as ProfileCache | null,
});

export const session = {
  get: (): Session => {
    const { token, switchedTo, unreachedToken, initializations, redirects, profiles } = store.get();
    const user = token ? (profiles?.get(token) ?? null) : null;
    return {
      token,
      user,
      isInitializing: initializations > 0,
      isLoading: token ? (profiles?.isLoading(token) ?? false) : false,
      isRedirecting: redirects > 0,
      isSwitched: token !== null && signatureOf(token) === switchedTo,
      isUnreached: token !== null && token === unreachedToken && !user,
    };
  },

  subscribe: store.subscribe,
  storedToken: () => storage.read(tokenKey),

  connect: (profiles: ProfileCache) => store.set({ profiles }),

  /** Tells listeners that the cache has another profile. */
  refresh: () => store.set({}),

  beginInitialization: () => store.set({ initializations: store.get().initializations + 1 }),

  endInitialization: () => store.set({ initializations: store.get().initializations - 1 }),

  async waitForRedirect(redirect: Promise<void>): Promise<void> {
    store.set({ redirects: store.get().redirects + 1 });
    await redirect.finally(() => store.set({ redirects: store.get().redirects - 1 }));
  },

  /** Begins a session. Returns the token that it replaces, if any. */
  start(token: string): string | null {
    const replaced = storage.read(tokenKey);
    storage.write(tokenKey, token);
    tabStorage.remove(asideKey);
    setToken(token);
    return replaced === token ? null : replaced;
  },

  markSwitched(token: string | null): void {
    const switchedTo = token && signatureOf(token);
    if (switchedTo) tabStorage.write(switchedKey, switchedTo);
    else tabStorage.remove(switchedKey);
    store.set({ switchedTo });
  },

  /** Lets the login open for a trial link's owner, with the number filled in. */
  askForCode: (token: string) => store.set({ limitedToken: token }),

  needsCode(): boolean {
    const { token, limitedToken } = store.get();
    return limitedToken !== null && limitedToken === token;
  },

  /** Notes that an outage keeps the profile back. The owner stays signed in. */
  noteOutage: (token: string) => store.set({ unreachedToken: token }),

  /** Takes over the session of another tab or of an earlier visit. */
  follow: (token: string | null) => setToken(token),

  /** Ends the session, and removes what its owner wrote. */
  endByPerson(token: string): void {
    keptInTab.removeAll(token);
    session.end(token);
  },

  /** Ends the session of `token`. It does nothing if another one has replaced it. */
  end(token: string): void {
    if (storage.read(tokenKey) === token) storage.remove(tokenKey);
    if (store.get().token === token) setToken(null);
  },

  /** Ends the session and keeps its token in this tab, until somebody signs in. */
  putAside(token: string): void {
    session.end(token);
    tabStorage.write(asideKey, token);
  },

  isAside: () => tabStorage.read(asideKey) !== null,

  /** Stores the kept token again, for the next page that loads. */
  takeBack(): void {
    const token = tabStorage.read(asideKey);
    if (token !== null) storage.write(tokenKey, token);
    tabStorage.remove(asideKey);
  },

  updateUser(change: (user: User) => User): void {
    const { token, user } = session.get();
    if (token && user) store.get().profiles?.set(token, change(user));
  },

  setMessagesUsed: (count: number) =>
    session.updateUser((user) => ({ ...user, messagesUsedThisPeriod: count })),
};

function setToken(token: string | null): void {
  const before = store.get().token;
  // This comes first, since listeners may show what is kept.
  if (token && token !== before) keptInTab.keepOnly(token);
  store.set({ token });
  if (!before || before === token) return;
  store.get().profiles?.remove(before);
  // The person signed out in another tab.
  if (token === null && keptInTab.wasSignedOut(before)) keptInTab.removeAll(before);
}

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

/** Returns a part of the session. Select a stored value, never a new object. */
export function useSession<T>(select: (session: Session) => T): T {
  return useSyncExternalStore(
    session.subscribe,
    () => select(session.get()),
    () => select(initialSession),
  );
}

export type Membership = 'unknown' | 'guest' | 'member';

/** Says whether a member visits: unknown at build time and while a session starts. */
export const useMembership = (): Membership => useSession(membershipOf);

function membershipOf({ user, isInitializing, isUnreached }: Session): Membership {
  if (user || isUnreached) return 'member';
  return isInitializing ? 'unknown' : 'guest';
}
