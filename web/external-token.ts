const prefix = '#external_token=';

const arrived = location.hash.startsWith(prefix) ? decodeURIComponent(location.hash.slice(prefix.length)) : null;
// The token leaves the address bar before anything is asked of anybody.
if (arrived !== null) history.replaceState(history.state, '', location.pathname + location.search);

let waiting = arrived;

/** The token of `/login#external_token=…`, once. */
export const externalToken = {
  isWaiting: () => waiting !== null,
  take() {
    const token = waiting;
    waiting = null;
    return token;
  },
};
