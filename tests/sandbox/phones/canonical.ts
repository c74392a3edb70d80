/** The canonical spelling: numbers of Mexico, Argentina and Brazil exist with and without a mobile digit. */
export function canonical(digits: string): string {
  if (/^521\d{10}$/.test(digits)) return `52${digits.slice(3)}`;
  if (/^549\d{10}$/.test(digits)) return `54${digits.slice(3)}`;
  if (/^55\d\d9\d{8}$/.test(digits)) return digits.slice(0, 4) + digits.slice(5);
  return digits;
}
