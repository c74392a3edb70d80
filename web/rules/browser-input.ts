export function isLocalHost(hostname: string): boolean {
  return (
    /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ||
    /\.(localhost|local|test)$/.test(hostname)
  );
}

export function isOwnAddress(address: string, here: string): boolean {
  return new URL(address, here).origin === new URL(here).origin;
}

type Key = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'keyCode' | 'isComposing'>;

/** Enter sends if a keyboard is likely. Safari reports key code 229 after a composition has ended (WebKit 165004). */
export function sendsOnEnter({ key, shiftKey, keyCode, isComposing }: Key): boolean {
  if (key !== 'Enter' || shiftKey || isComposing || keyCode === 229) return false;
  return likelyKeyboard().matches;
}

/** A device with a mouse or a trackpad has a keyboard, as a tablet in its keyboard case. */
export const likelyKeyboard = () => matchMedia('(any-pointer: fine)');

/** The distance (px) from the end of a list that still counts as the end. */
const nearEnd = 80;

export const isNearEnd = (list: Element): boolean =>
  list.scrollHeight - list.scrollTop - list.clientHeight < nearEnd;
