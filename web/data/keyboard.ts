/** People with a mouse or a trackpad have a keyboard. A pen counts as fine as well, but neither Android nor iPadOS says that it hovers. */
const likelyKeyboard = () => matchMedia('(any-hover: hover)');

export const hasKeyboard = () => likelyKeyboard().matches;

export function followKeyboard(listener: () => void): () => void {
  const media = likelyKeyboard();
  media.addEventListener('change', listener);
  return () => media.removeEventListener('change', listener);
}
