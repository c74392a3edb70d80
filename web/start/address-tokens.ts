import { externalTokenHash, type EarlyStart } from './protocol.ts';

/** Takes tokens away from the address bar, the history and links that are shared. */
export function takeTokensFromAddress(early: EarlyStart): void {
  const { pathname, search, hash } = location;
  const trialToken = pathname.endsWith('/activate-trial')
    ? new URLSearchParams(search).get('token')
    : null;

  if (hash.startsWith(externalTokenHash))
    early.externalToken = decode(hash.slice(externalTokenHash.length));
  else if (trialToken) early.trialToken = trialToken;
  else return;

  history.replaceState(history.state, '', trialToken ? pathname : pathname + search);
}

/** Returns a wrong text as it is: the server refuses it like any invalid token. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
