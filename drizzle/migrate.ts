import { fileURLToPath } from 'node:url';
import { createClient } from '@libsql/client/web';
import { drizzle } from 'drizzle-orm/libsql/web';
import { migrate as run } from 'drizzle-orm/libsql/migrator';

const migrationsFolder = fileURLToPath(new URL('migrations', import.meta.url));

/** Brings the database at `url` to the newest schema; does nothing when it is there already. */
export async function migrate(url: string, authToken: string): Promise<void> {
  const client = createClient({ url, authToken });
  try {
    await run(drizzle(client), { migrationsFolder });
  } finally {
    client.close();
  }
}
