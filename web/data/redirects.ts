import type { Destination } from '../rules/after-login.ts';

type Listener = (to: Destination) => Promise<void>;

let navigate: Listener = async () => {};

/** Registers the router, which the data layer does not import. */
export function onRedirect(listener: Listener): void {
  navigate = listener;
}

/** Redirects to another page. */
export const redirectTo: Listener = (to) => navigate(to);
