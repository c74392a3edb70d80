export function isLocalHost(hostname: string): boolean {
  return (
    /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ||
    /\.(localhost|local|test)$/.test(hostname)
  );
}

export function isOwnAddress(address: string, here: string): boolean {
  return new URL(address, here).origin === new URL(here).origin;
}

/** A path without capitals and without the punctuation at its end, also encoded: `/Help-now.` is `/help-now`. */
export const plainPath = (path: string): string =>
  path.toLowerCase().replace(/([^\w/]|%[\da-f]{2})+$/, '') || '/';

type Key = Pick<
  KeyboardEvent,
  'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'keyCode' | 'isComposing'
>;

/**
 * Enter sends if a keyboard is likely, and with Control or Command everywhere: a tablet does not tell of a keyboard without a
 * trackpad. Safari reports key code 229 after a composition has ended (WebKit 165004).
 */
export function sendsOnEnter(pressed: Key): boolean {
  const { key, shiftKey, keyCode, isComposing } = pressed;
  if (key !== 'Enter' || shiftKey || isComposing || keyCode === 229) return false;
  return pressed.ctrlKey || pressed.metaKey || likelyKeyboard().matches;
}

/** A device with a mouse or a trackpad has a keyboard, as a tablet in its keyboard case. */
export const likelyKeyboard = () => matchMedia('(any-pointer: fine)');

/** The distance (px) from the end of a list that still counts as the end. */
const nearEnd = 80;

export const isNearEnd = (list: Element): boolean =>
  list.scrollHeight - list.scrollTop - list.clientHeight < nearEnd;
