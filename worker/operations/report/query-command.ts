import { Console } from 'node:console';
import { createClient } from '@libsql/client/web';
import { canonicalPhone } from '../../identity/phone.ts';
import { phoneTag } from '../../lib/log.ts';
import { writeAudit } from '../support/command-audit.ts';
import { readCommand, runCommand } from '../owner-command.ts';

/* `npm run query -- 'select …' [--env …]`: reads the database that the settings name; writes nothing but an audit line. */

await runCommand(async () => {
  const { target, words, values } = readCommand('local');
  const {
    TURSO_DATABASE_URL: url = '',
    TURSO_AUTH_TOKEN: authToken = '',
    CODE_PEPPER = '',
  } = values;
  const query = (words[0] ?? '').replace(/;\s*$/, '');
  const entry = {
    env: target,
    command: 'query',
    about: await withoutNumbers(query, CODE_PEPPER.split(/\s/)[0]!),
  };
  const client = createClient({ url, authToken });
  writeAudit(entry, 'started');
  // Only a read query is valid as a subquery.
  const { rows } = await client.execute(`select * from (${query})`).catch((error: unknown) => {
    writeAudit(entry, 'failed');
    throw error;
  });
  writeAudit(entry, 'done');
  new Console(process.stdout).table(rows.map((row) => ({ ...row })));
  return true;
});

async function withoutNumbers(query: string, pepper: string): Promise<string> {
  const numbers = [...new Set(query.match(/\+?\d{7,}/g))];
  const tags = await Promise.all(
    numbers.map((number) => phoneTag(pepper, canonicalPhone(`+${number.replace('+', '')}`))),
  );
  return numbers.reduce((text, number, index) => text.replaceAll(number, tags[index]!), query);
}
