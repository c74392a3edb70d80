/** The Worker's setting; 0 leaves every word of it out. */
export const withdrawalDays: number = daysOf(process.env['WITHDRAWAL_DAYS']);

function daysOf(text: string | undefined): number {
  const days = Number(text || 14);
  if (Number.isInteger(days) && days >= 0) return days;
  throw new Error('WITHDRAWAL_DAYS must be a whole number, such as 14, or 0 to turn it off');
}
