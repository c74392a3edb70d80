/** Browsers also report errors of extensions, apps and networks. */
export function isOwnScript(address: string, origin: string): boolean {
  return address.startsWith(`${origin}/assets/`);
}

/** In any language. */
export function showsCrisisLines(path: string): boolean {
  return /^(\/[a-z-]+)?\/help-now\/?$/.test(path);
}
