/** People with a mouse or a trackpad have a keyboard. Tablets report none without a trackpad. */
const likelyKeyboard = () => matchMedia('(any-pointer: fine)');

export const hasKeyboard = () => likelyKeyboard().matches;

export function followKeyboard(listener: () => void): () => void {
  const media = likelyKeyboard();
  media.addEventListener('change', listener);
  return () => media.removeEventListener('change', listener);
}
