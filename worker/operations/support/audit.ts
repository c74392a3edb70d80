import { appendFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';

const defaultFile = fileURLToPath(new URL('../../../support-audit.jsonl', import.meta.url));

export type AuditEntry = { env: string; command: string; about: string };

/**
 * Appends one JSON line about a change to `support-audit.jsonl`, or to the file that `SUPPORT_AUDIT_FILE` names, and
 * prints it to stderr. Throws when the file cannot be written: then the change does not take place. The line contains
 * no phone number.
 */
export function writeAudit(entry: AuditEntry, outcome: 'started' | 'done' | 'incomplete' | 'failed'): void {
  const file = process.env['SUPPORT_AUDIT_FILE'] || defaultFile;
  const line = JSON.stringify({
    at: new Date().toISOString(),
    event: 'support_command',
    by: userInfo().username,
    ...entry,
    outcome,
  });
  appendFileSync(file, `${line}\n`, { mode: 0o600 });
  process.stderr.write(`${line}\n`);
}
