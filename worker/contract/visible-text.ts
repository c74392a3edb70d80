/** Nobody sees them, and some programs obey them. */
const control = /(?![\t\n\r])\p{Cc}/gu;

/** Braille's blank and the empty note head are symbols by their class. */
const invisible = /[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

export function withoutControls(text: string): string {
  return text.replaceAll(control, '');
}

export function isVisible(text: string): boolean {
  return text.replaceAll(invisible, '') !== '';
}

/** Half of a surrogate pair has no UTF-8 form, and no database takes it. */
const half = /\p{Surrogate}/gu;

/** As `isWellFormed`, which Firefox has from 119 on. */
export function isComplete(text: string): boolean {
  return text.search(half) === -1;
}

export function withHalvesReplaced(text: string): string {
  return text.replaceAll(half, '\ufffd');
}
