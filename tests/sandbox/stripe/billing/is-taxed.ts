/** Whether a form asks for automatic tax; its value comes as a text. */
export function isTaxed({ automatic_tax: tax }: { automatic_tax?: { enabled: boolean } | undefined }): boolean {
  return String(tax?.enabled) === 'true';
}
