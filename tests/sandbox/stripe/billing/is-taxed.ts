/** Whether a form enables automatic tax; its value is a text. */
export function isTaxed({ automatic_tax: tax }: { automatic_tax?: { enabled: boolean } | undefined }): boolean {
  return String(tax?.enabled) === 'true';
}
