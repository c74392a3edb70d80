/** Whether an address belongs to the site itself; `here` is where we are. */
export function isOwnAddress(address: string, here: string): boolean {
  return new URL(address, here).origin === new URL(here).origin;
}
