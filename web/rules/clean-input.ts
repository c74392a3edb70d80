/** A typed number without spaces, dashes, dots and parentheses. */
export function cleanPhone(typed: string): string {
  return typed.replace(/[\s\u00a0().\u2010-\u2015-]/g, '');
}

/** A typed code without spaces and dashes, at most six characters. */
export function cleanCode(typed: string): string {
  return typed.replace(/[\s\u00a0-]/g, '').slice(0, 6);
}
