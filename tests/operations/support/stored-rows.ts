import { createClient } from '@libsql/client/web';
import { product } from '../shared-product.ts';

const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = product.vars;

export const database = createClient({ url, authToken });

/** The tables that contain any of the words, in any column. */
export async function tablesWith(...words: string[]): Promise<string[]> {
  const { rows } = await database.execute(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite%'",
  );
  const found: string[] = [];
  for (const name of rows.map((row) => row['name'] as string)) {
    const held = JSON.stringify((await database.execute(`select * from "${name}"`)).rows);
    if (words.some((word) => held.includes(word))) found.push(name);
  }
  return found.toSorted();
}
