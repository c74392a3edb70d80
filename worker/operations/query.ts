/* `npx node worker/operations/query.ts 'select …' [--env …]`: reads the database that the settings name; writes nothing. */
import { Console } from 'node:console';
import { createClient } from '@libsql/client/web';
import { readCommand } from './target.ts';

const { words, values } = readCommand('local');
const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = values;
try {
  const client = createClient({ url, authToken });
  // Only what reads can stand in the place of a table.
  const { rows } = await client.execute(`select * from (${(words[0] ?? '').replace(/;\s*$/, '')})`);
  new Console(process.stdout).table(rows.map((row) => ({ ...row })));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
