import type { Destination } from '../rules/destinations.ts';
import { createStore } from './store.ts';

/** `comesBack`: a sign-in leads back here. */
type RedirectOptions = { comesBack?: true; search?: Record<string, string> };
type Redirect = (to: Destination, options?: RedirectOptions) => Promise<void>;

/** Leads elsewhere by the router, which the data layer does not import. */
const redirects = createStore<{ to: Redirect }>({ to: async () => {} });

export const onRedirect = (to: Redirect): void => redirects.set({ to });

export const redirectTo: Redirect = (to, options) => redirects.get().to(to, options);
