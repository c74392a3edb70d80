const prefix = '#external_token=';

let waiting: string | null = null;

/** The token of `/login#external_token=…`, once. */
export const externalToken = {
  /** Takes the token out of the address bar, before anything is asked of anybody. */
  collect() {
    if (!location.hash.startsWith(prefix)) return;
    waiting = decode(location.hash.slice(prefix.length));
    history.replaceState(history.state, '', location.pathname + location.search);
  },
  isWaiting: () => waiting !== null,
  take() {
    const token = waiting;
    waiting = null;
    return token;
  },
};

/** A fragment that is not well encoded is refused by the server like any other bad token. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
