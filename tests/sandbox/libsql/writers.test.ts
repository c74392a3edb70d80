import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { createClient } from '@libsql/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listen } from '../start.ts';
import { secrets, startTestSandbox } from '../test-sandbox.ts';
import { createLibsql } from './index.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
const connect = () =>
  createClient({ url: `${sandbox.url}/libsql/`, authToken: secrets.TURSO_AUTH_TOKEN, intMode: 'bigint' });

beforeAll(async () => void (sandbox = await startTestSandbox()));
afterAll(() => sandbox.close());

const schema = `
  DROP TABLE IF EXISTS notes;
  CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT UNIQUE);
`;

test('writers wait for each other', async () => {
  const client = connect();
  await client.executeMultiple(schema);
  const append = async () => {
    const transaction = await client.transaction('write');
    const { rows } = await transaction.execute('SELECT count(*) AS n FROM notes');
    await transaction.execute({ sql: 'INSERT INTO notes (title) VALUES (?)', args: [rows[0]!.n as bigint] });
    await transaction.commit();
  };
  await Promise.all(Array.from({ length: 50 }, append));
  expect((await client.execute('SELECT count(DISTINCT title) AS n FROM notes')).rows[0]!.n).toBe(50n);
});

test('an idle transaction is rolled back, and the waiting ones continue', async () => {
  const client = createClient({ url: await serveLibsql({ idleMs: 500 }) });
  await client.executeMultiple(schema);
  const silent = await client.transaction('write');
  await silent.execute("INSERT INTO notes (title) VALUES ('silent')");
  await client.execute("INSERT INTO notes (title) VALUES ('patient')");
  expect((await client.execute('SELECT title FROM notes')).rows).toMatchObject([{ title: 'patient' }]);
  await expect(silent.commit()).rejects.toMatchObject({ code: 'STREAM_EXPIRED' });
});

/** Another server, with its own settings; returns its address. */
async function serveLibsql(settings: { idleMs: number }): Promise<string> {
  const libsql = createLibsql({ ...settings, file: join(sandbox.stateDir, 'another.db') });
  const server = await listen(0);
  const listener = getRequestListener(libsql.app.fetch, { overrideGlobalObjects: false });
  server.serve((request, response) => void listener(request, response));
  onTestFinished(async () => {
    await server.close();
    libsql.close();
  });
  return `http://127.0.0.1:${server.port}`;
}

test('a statement prepared before the schema changed sees the new column', async () => {
  const client = connect();
  await client.executeMultiple(schema);
  await client.execute("INSERT INTO notes (title) VALUES ('a')");
  await client.execute('SELECT * FROM notes');
  await client.execute("ALTER TABLE notes ADD COLUMN mood TEXT DEFAULT 'calm'");
  expect((await client.execute('SELECT * FROM notes')).rows).toMatchObject([{ mood: 'calm' }]);
});

test('foreign keys hold, also after a migration switched them off', async () => {
  const client = connect();
  await client.executeMultiple(`${schema} DROP TABLE IF EXISTS tags; CREATE TABLE tags (note REFERENCES notes (id));`);
  await client.migrate(['DROP TABLE notes', 'CREATE TABLE notes (id INTEGER PRIMARY KEY)']);
  await expect(client.execute('INSERT INTO tags VALUES (1)')).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT' });
});
