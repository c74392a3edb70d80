import { Console } from 'node:console';
import { createClient } from '@libsql/client/web';
import { readCommand, runCommand } from '../target.ts';

/* `npm run query -- 'select …' [--env …]`: reads the database that the settings name; writes nothing. */

await runCommand(async () => {
  const { words, values } = readCommand('local');
  const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = values;
  const client = createClient({ url, authToken });
  // Only a read query is valid as a subquery.
  const { rows } = await client.execute(`select * from (${(words[0] ?? '').replace(/;\s*$/, '')})`);
  new Console(process.stdout).table(rows.map((row) => ({ ...row })));
  return true;
});
