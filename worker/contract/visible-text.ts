/** Nobody sees them, and some programs obey them. */
const control = /(?![\t\n\r])\p{Cc}/gu;

/** Braille's blank is a symbol by its class. */
const invisible = /[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

/** Slides and pages hold line breaks of their own. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\v\f]/g, '\n').replaceAll(control, '');
}

export function isVisible(text: string): boolean {
  return text.replaceAll(invisible, '') !== '';
}

/** No database takes half of a surrogate pair. */
const half = /\p{Surrogate}/gu;

/** As `isWellFormed`, which Firefox has from 119 on. */
export function isComplete(text: string): boolean {
  return text.search(half) === -1;
}

export function withHalvesReplaced(text: string): string {
  return text.replaceAll(half, '\ufffd');
}
