/**
 * Whether a script is the site's own. Browsers report the errors of extensions, password managers, apps and networks to
 * the page as well, and none of them takes it away.
 */
export function isOwnScript(address: string, origin: string): boolean {
  return address.startsWith(`${origin}/assets/`);
}

/** The crisis lines, in any language: nothing takes them away from who reads them. */
export function showsCrisisLines(path: string): boolean {
  return /^(\/[a-z-]+)?\/help-now\/?$/.test(path);
}
