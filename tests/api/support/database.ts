import { createClient } from '@libsql/client/web';
import { vars } from './api.ts';

const realFetch = globalThis.fetch;

/** Direct access to the database, for facts and states that the API does not offer; a test's spies see none of it. */
export const database = createClient({
  url: vars.TURSO_DATABASE_URL!,
  authToken: vars.TURSO_AUTH_TOKEN!,
  fetch: (request: Request) => realFetch(request),
});

/** The row of the user with a number. */
export async function userRowOf({ phone }: { phone: string }) {
  const { rows } = await database.execute({ sql: 'select * from users where phone = ?', args: [phone] });
  return rows[0]!;
}
