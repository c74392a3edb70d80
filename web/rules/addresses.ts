export function isLocalHost(hostname: string): boolean {
  return (
    /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ||
    /\.(localhost|local|test)$/.test(hostname)
  );
}

export function isOwnAddress(address: string, here: string): boolean {
  return new URL(address, here).origin === new URL(here).origin;
}

/** `/Help-now.` is `/help-now`. */
export const correctedPath = (path: string): string =>
  path.toLowerCase().replace(/([^\w/]|%[\da-f]{2})+$/, '') || '/';
