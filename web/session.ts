import { createStore } from './store.ts';
import { storage } from './storage.ts';
import type { User } from './rules/read-user.ts';

export const tokenKey = 'authToken';

export type Session = {
  user: User | null;
  token: string | null;
  isInitializing: boolean;
  isLoading: boolean;
  renewalDate: string | null;
  cancelAtDate: string | null;
  subscriptionStatus: string | null;
  scheduledTierId: string | null;
};

const nobody = {
  user: null,
  token: null,
  isLoading: false,
  renewalDate: null,
  cancelAtDate: null,
  subscriptionStatus: null,
  scheduledTierId: null,
};

/** Before anything is known of the visitor: what a page is rendered with at build time. */
export const startup: Session = { ...nobody, isInitializing: true };

const store = createStore<Session>(startup);

/** The only owner of token and user. */
export const session = {
  get: store.get,
  subscribe: store.subscribe,
  storedToken: () => storage.read(tokenKey),
  setLoading: (isLoading: boolean) => store.set({ isLoading }),
  setInitializing: (isInitializing: boolean) => store.set({ isInitializing }),
  markStarting: () => store.set({ isInitializing: true, token: storage.read(tokenKey) }),

  keepToken(token: string) {
    storage.write(tokenKey, token);
    store.set({ token });
  },

  setUser(user: User) {
    const { renewalDate, cancelAtDate, subscriptionStatus, scheduledDowngradeTierId } = user.metadata;
    store.set({ user, renewalDate, cancelAtDate, subscriptionStatus, scheduledTierId: scheduledDowngradeTierId });
  },

  /** A given count, or one more than before. */
  setMessagesUsed(count?: number) {
    const { user } = store.get();
    if (!user) return;
    const used = count ?? user.messagesUsedThisPeriod + 1;
    const metadata = { ...user.metadata, messagesUsedThisPeriod: used };
    store.set({ user: { ...user, messagesUsedThisPeriod: used, metadata } });
  },

  /** Forgets the person; the stored token goes too, unless it should be tried again at the next visit. */
  clear({ keepStored = false } = {}) {
    if (!keepStored) storage.remove(tokenKey);
    store.set(nobody);
  },
};

/** Waits until the startup knows whether somebody is logged in. */
export function sessionReady(): Promise<Session> {
  return new Promise((resolve) => {
    const look = () => {
      if (session.get().isInitializing) return;
      stop();
      resolve(session.get());
    };
    const stop = session.subscribe(look);
    look();
  });
}
