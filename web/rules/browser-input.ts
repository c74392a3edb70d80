export function isLocalHost(hostname: string): boolean {
  return (
    /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ||
    /\.(localhost|local|test)$/.test(hostname)
  );
}

export function isOwnAddress(address: string, here: string): boolean {
  return new URL(address, here).origin === new URL(here).origin;
}

/** `/Help-now.` is `/help-now`. */
export const plainPath = (path: string): string =>
  path.toLowerCase().replace(/([^\w/]|%[\da-f]{2})+$/, '') || '/';

type Key = Pick<
  KeyboardEvent,
  'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'keyCode' | 'isComposing'
>;

/** Tablets tell of no keyboard without trackpad. Safari reports 229 after a composition (WebKit 165004). */
export function sendsOnEnter(pressed: Key): boolean {
  const { key, shiftKey, keyCode, isComposing } = pressed;
  if (key !== 'Enter' || shiftKey || isComposing || keyCode === 229) return false;
  return pressed.ctrlKey || pressed.metaKey || likelyKeyboard().matches;
}

/** Who has a mouse or a trackpad has a keyboard. */
export const likelyKeyboard = () => matchMedia('(any-pointer: fine)');

/** px that still count as the end. */
const nearEnd = 80;

export const isNearEnd = (list: Element): boolean =>
  list.scrollHeight - list.scrollTop - list.clientHeight < nearEnd;
