import type { Destination } from '../rules/after-login.ts';

type Listener = (to: Destination) => Promise<void>;

let navigate: Listener = async () => {};

/** Registers the router, which the data layer does not import. */
export function onRedirect(listener: Listener): void {
  navigate = listener;
}

/** Leads the person to another page without their asking for it. */
export const redirectTo: Listener = (to) => navigate(to);
