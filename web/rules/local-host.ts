/** Hosts of developers and tests. */
export function isLocalHost(hostname: string): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) || /\.(localhost|local|test)$/.test(hostname);
}
