import { createClient } from '@libsql/client/web';
import { vars } from './api.ts';
import { day } from './clock.ts';

const realFetch = globalThis.fetch;

/** Direct access to the database, for facts and states that the API does not offer; a test's spies see none of it. */
export const database = createClient({
  url: vars.TURSO_DATABASE_URL!,
  authToken: vars.TURSO_AUTH_TOKEN!,
  fetch: (request: Request) => realFetch(request),
});

export const run = (sql: string, ...args: (string | number)[]) => database.execute({ sql, args });

/** The row of the user with a number. */
export async function userRowOf({ phone }: { phone: string }) {
  const { rows } = await run('select * from users where phone = ?', phone);
  return rows[0]!;
}

/** What has been counted on the present day; a test that reads it has a day of its own. */
export async function totalsOfToday() {
  const { rows } = await run('select kind, detail, n from daily_totals where day = ?', Math.floor(Date.now() / day));
  return rows.map((row) => ({ ...row }));
}

/** Every value of every row of the database as text, with the column that it stands in. */
export async function everyValue(): Promise<{ column: string; text: string }[]> {
  const { rows: tables } = await database.execute("select name from sqlite_master where type = 'table'");
  const contents = await Promise.all(
    tables.map(async (table) => {
      const name = table['name'] as string;
      const { columns, rows } = await database.execute(`select * from "${name}"`);
      return rows.flatMap((row) =>
        columns.map((column) => ({ column: `${name}.${column}`, text: textOf(row[column]) })),
      );
    }),
  );
  return contents.flat();
}

/** The columns of the database in which one of the texts stands. */
export async function columnsWith(texts: string[]): Promise<string[]> {
  const found = (await everyValue()).filter(({ text }) => texts.some((each) => text.includes(each)));
  return [...new Set(found.map(({ column }) => column))].toSorted();
}

/** A value of a row, bytes decoded. */
export const textOf = (value: unknown) =>
  value instanceof ArrayBuffer ? new TextDecoder().decode(value) : JSON.stringify(value ?? null);
