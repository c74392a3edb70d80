/** Where the app must take a person without being asked: the router listens, so that nothing else needs to know it. */
export type Destination = '/' | '/login' | '/account' | '/pending-approval' | '/plans';

type Listener = (to: Destination) => Promise<void>;

let go: Listener = async () => {};

export const departures = {
  listen(listener: Listener) {
    go = listener;
  },
  to: (to: Destination) => go(to),
};
