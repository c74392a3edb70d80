type Key = Pick<
  KeyboardEvent,
  'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'keyCode' | 'isComposing'
>;

export function sendsOnEnter(pressed: Key, hasKeyboard: boolean): boolean {
  const { key, shiftKey, keyCode, isComposing } = pressed;
  // Safari reports 229 after a composition (WebKit 165004).
  const isComposed = isComposing || keyCode === 229;
  if (key !== 'Enter' || shiftKey || isComposed) return false;
  return pressed.ctrlKey || pressed.metaKey || hasKeyboard;
}

/** px that still count as the end. */
const nearEnd = 80;

export const isNearEnd = (list: Element): boolean =>
  list.scrollHeight - list.scrollTop - list.clientHeight < nearEnd;
