import type { User } from '../rules/user-profile.ts';
import { storage, tabStorage, createStore } from './store.ts';
import { keptInTab } from './kept-in-tab.ts';
import { signatureOf } from '../rules/token-claims.ts';
import { useSyncExternalStore } from 'react';
import type { Destination } from '../rules/destinations.ts';

export const tokenKey = 'authToken';

export type Session = {
  token: string | null;
  /** From the query cache, which owns it. */
  user: User | null;
  isInitializing: boolean;
  isLoading: boolean;
  /** For another page: this one must not show what guests see. */
  isLeaving: boolean;
  /** A trial link replaced another account, and the notice is open here. */
  isSwitched: boolean;
  /** An outage keeps the profile back. */
  isUnreached: boolean;
};

export type ProfileCache = {
  get: (token: string) => User | null;
  set: (token: string, user: User) => void;
  remove: (token: string) => void;
  isLoading: (token: string) => boolean;
};

/** As pages are prerendered. */
const initialSession: Session = {
  token: null,
  user: null,
  isInitializing: true,
  isLoading: false,
  isLeaving: false,
  isSwitched: false,
  isUnreached: false,
};
const switchedKey = 'switchedTo';
const asideKey = 'tokenAside';
const store = createStore({
  token: null as string | null,
  /** Signature of the token that replaced another. */
  switchedTo: tabStorage.read(switchedKey),
  /** Its owner needs a code for more. */
  limitedToken: null as string | null,
  /** Its profile met an outage. */
  unreachedToken: null as string | null,
  /** Begun and not ended; the first with the page. */
  initializations: 1,
  redirects: 0,
  /** Loads for visitors who sign in or return. */
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
      isLeaving: redirects > 0,
      isSwitched: token !== null && signatureOf(token) === switchedTo,
      isUnreached: token !== null && token === unreachedToken && !user,
    };
  },
  subscribe: store.subscribe,
  storedToken: () => storage.read(tokenKey),

  connect: (profiles: ProfileCache) => store.set({ profiles }),
  /** The cache has another profile. */
  refresh: () => store.set({}),

  beginInitialization: () => store.set({ initializations: store.get().initializations + 1 }),
  endInitialization: () => store.set({ initializations: store.get().initializations - 1 }),

  async leaveWith(redirect: Promise<void>): Promise<void> {
    store.set({ redirects: store.get().redirects + 1 });
    await redirect.finally(() => store.set({ redirects: store.get().redirects - 1 }));
  },

  /** Returns the replaced token, if any. */
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

  /** Opens the login with the number filled in. */
  askForCode: (token: string) => store.set({ limitedToken: token }),
  needsCode(): boolean {
    const { token, limitedToken } = store.get();
    return limitedToken !== null && limitedToken === token;
  },

  /** Its owner stays signed in. */
  noteOutage: (token: string) => store.set({ unreachedToken: token }),

  /** From another tab or an earlier visit. */
  follow: (token: string | null) => setToken(token),

  /** Nothing that its owner wrote stays. */
  signOut(token: string): void {
    keptInTab.signOut(token);
    session.end(token);
  },

  /** No other session. */
  end(token: string): void {
    if (storage.read(tokenKey) === token) storage.remove(tokenKey);
    if (store.get().token === token) setToken(null);
  },

  /** Kept for this tab until somebody signs in. */
  putAside(token: string): void {
    session.end(token);
    tabStorage.write(asideKey, token);
  },
  isAside: () => tabStorage.read(asideKey) !== null,
  /** The next page that loads is of its account. */
  takeBack(): void {
    const token = tabStorage.read(asideKey);
    if (token !== null) storage.write(tokenKey, token);
    tabStorage.remove(asideKey);
  },

  updateUser(change: (user: User) => User): void {
    const { token, user } = session.get();
    if (token && user) store.get().profiles?.set(token, change(user));
  },

  /** Adds one without a number. */
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
  // Listeners may show what is kept.
  if (token && token !== before) keptInTab.keepOnly(token);
  store.set({ token });
  if (!before || before === token) return;
  store.get().profiles?.remove(before);
  // By hand in another tab.
  if (token === null && keptInTab.wasSignedOut(before)) keptInTab.signOut(before);
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

/** Select a stored value, never a new object. */
export function useSession<T>(select: (session: Session) => T): T {
  return useSyncExternalStore(
    session.subscribe,
    () => select(session.get()),
    () => select(initialSession),
  );
}

export type Visitor = 'unknown' | 'guest' | 'member';

/** Unknown at build time and while a session starts. */
export function useVisitor(): Visitor {
  return useSession(({ user, isInitializing, isUnreached }) =>
    user || isUnreached ? 'member' : isInitializing ? 'unknown' : 'guest',
  );
}

/** `comesBack`: a sign-in leads back here. */
type Options = { comesBack?: true; search?: Record<string, string> };
type Listener = (to: Destination, options?: Options) => Promise<void>;

/** The router, which the data layer does not import. */
const redirects = createStore<{ to: Listener }>({ to: async () => {} });

export const onRedirect = (to: Listener): void => redirects.set({ to });

export const redirectTo: Listener = (to, options) => redirects.get().to(to, options);
