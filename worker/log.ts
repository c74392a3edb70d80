/** One line of JSON to the log. No phone number, token, code, query string or body belongs in it. */
export function log(level: 'info' | 'error', event: string, fields: Record<string, unknown>): void {
  const line = JSON.stringify({ level, event, ...fields });
  // oxlint-disable-next-line no-console
  if (level === 'error') console.error(line);
  // oxlint-disable-next-line no-console
  else console.log(line);
}
