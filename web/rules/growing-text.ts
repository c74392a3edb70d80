/** A reply that is still growing, with its last line as it will look when its marks are closed. */
export function growingText(text: string): string {
  const shown = text
    // A link whose address is not there yet.
    .replace(/\[([^\]\n]*)(\](\([^\s)]*)?)?$/, '$1')
    .replace(/(^|\s)(\*{1,2}|_)$/, '$1')
    .replace(/(^|\n)\s*(#{1,6}|[-+•])\s*$/, '$1');
  if (!isBoldOpen(shown)) return shown;
  const started = shown.replace(/\*$/, '').trimEnd();
  return isBoldOpen(started) ? `${started}**` : started;
}

const isBoldOpen = (text: string) => text.replace(/.*\n/g, '').split('**').length % 2 === 0;
