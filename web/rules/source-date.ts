/** The year, and the month if it is known, of an ISO 8601 date of any precision. */
export function sourceDate(readOn: string): string {
  const hasMonth = readOn.length > 4;
  const format = new Intl.DateTimeFormat('en-US', {
    year: 'numeric',
    ...(hasMonth && { month: 'long' }),
    timeZone: 'UTC',
  });
  return format.format(new Date(readOn));
}
