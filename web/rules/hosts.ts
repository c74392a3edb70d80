/** Whether a host belongs to a developer's machine or a test. */
export function isLocalHost(hostname: string): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) || /\.(localhost|local|test)$/.test(hostname);
}

/** Whether an address belongs to the site; `here` is the current address. */
export function isOwnAddress(address: string, here: string): boolean {
  return new URL(address, here).origin === new URL(here).origin;
}
