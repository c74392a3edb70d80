/**
 * Whether this visit is the one that the markup was rendered for. `index.html` notes before the first paint that
 * somebody comes back with a token or that the address says more than its path; what is for strangers only is
 * hidden then.
 */
export function isPlainVisit(root: HTMLElement): boolean {
  const { visitor, address } = document.documentElement.dataset;
  return !('strangers' in root.dataset) || (visitor === undefined && address === undefined);
}
