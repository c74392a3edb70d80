import type { EarlyStart } from '../../data/early-start.ts';

const externalTokenPrefix = '#external_token=';

/** Nobody reads them in the address bar, the history or a link that is shared. */
export function takeTokensFromAddress(early: EarlyStart): void {
  const { pathname, search, hash } = location;
  const trialToken = pathname.endsWith('/activate-trial')
    ? new URLSearchParams(search).get('token')
    : null;
  if (hash.startsWith(externalTokenPrefix))
    early.externalToken = decode(hash.slice(externalTokenPrefix.length));
  else if (trialToken) early.trialToken = trialToken;
  else return;
  history.replaceState(history.state, '', trialToken ? pathname : pathname + search);
}

/** The server refuses it like any invalid token. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
