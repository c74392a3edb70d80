import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { type Client, createClient, LibsqlBatchError, LibsqlError } from '@libsql/client';
import { createClient as createWebClient } from '@libsql/client/web';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../drizzle/migrate.ts';
import { listen } from '../start.ts';
import { secrets, startTestSandbox } from '../test-sandbox.ts';
import { createLibsql } from './index.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
const connect = (create = createClient, authToken = secrets.TURSO_AUTH_TOKEN) =>
  create({ url: `${sandbox.url}/libsql/`, authToken, intMode: 'bigint' });

beforeAll(async () => void (sandbox = await startTestSandbox()));
afterAll(() => sandbox.close());

const schema = `
  DROP TABLE IF EXISTS notes;
  CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT UNIQUE, body BLOB, weight REAL NOT NULL DEFAULT 1);
`;

describe.each([
  ['node', createClient],
  ['web', createWebClient],
])('the stock client for %s', (_, create) => {
  let client: Client;
  beforeEach(async () => {
    client = connect(create);
    await client.executeMultiple(schema);
  });

  test('returns each value as it was sent', async () => {
    const sent = [
      9_223_372_036_854_775_807n,
      -1n,
      0.1,
      'naïve "text"; -- 🌿',
      null,
      new Uint8Array([0, 255, 128]).buffer,
    ];
    const { rows } = await client.execute({ sql: 'SELECT ?, ?, ?, ?, ?, ?', args: sent });
    expect(Array.from({ length: sent.length }, (_, i) => rows[0]![i])).toEqual(sent);
  });

  test('binds numbers as REAL and bigint as INTEGER', async () => {
    const { rows } = await client.execute({ sql: 'SELECT typeof(?), typeof(?), typeof(?)', args: [1, 1n, true] });
    expect([rows[0]![0], rows[0]![1], rows[0]![2]]).toEqual(['real', 'integer', 'integer']);
  });

  test('returns columns, their types, affected rows and the last rowid', async () => {
    const written = await client.execute({
      sql: 'INSERT INTO notes (id, title) VALUES (:id, $title)',
      args: { id: 7n, title: 'a' },
    });
    expect(written).toMatchObject({ rowsAffected: 1, lastInsertRowid: 7n, rows: [] });
    const read = await client.execute('SELECT id, title, count(*) AS n FROM notes');
    expect(read).toMatchObject({
      columns: ['id', 'title', 'n'],
      columnTypes: ['INTEGER', 'TEXT', ''],
      rowsAffected: 0,
    });
    const returned = await client.execute("UPDATE notes SET title = 'b' RETURNING id, title");
    expect(returned).toMatchObject({ rowsAffected: 1, rows: [{ id: 7n, title: 'b' }] });
  });

  test('keeps a batch whole', async () => {
    const error = await client
      .batch(["INSERT INTO notes (title) VALUES ('a')", "INSERT INTO notes (title) VALUES ('a')"], 'write')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LibsqlBatchError);
    expect(error).toMatchObject({ code: 'SQLITE_CONSTRAINT', statementIndex: 1 });
    expect((await client.execute('SELECT count(*) AS n FROM notes')).rows[0]!.n).toBe(0n);
  });

  test('reads and writes in one batch', async () => {
    const [, read] = await client.batch(
      ["INSERT INTO notes (title) VALUES ('a')", 'SELECT title FROM notes'],
      'deferred',
    );
    expect(read!.rows).toMatchObject([{ title: 'a' }]);
    expect(await client.batch(['SELECT 1 AS one', 'SELECT 2 AS two'], 'read')).toHaveLength(2);
  });

  test.each([
    ['SELEC 1', 'SQL_PARSE_ERROR'],
    ['', 'SQL_NO_STATEMENT'],
    ['-- nothing', 'SQL_NO_STATEMENT'],
    ['SELECT 1; SELECT 2', 'SQL_MANY_STATEMENTS'],
    ['SELECT * FROM nowhere', 'SQLITE_UNKNOWN'],
    ['INSERT INTO notes (weight) VALUES (NULL)', 'SQLITE_CONSTRAINT'],
    ['SELECT ?', 'ARGS_INVALID'],
  ])('responds to %o with %s', async (sql, code) => {
    const error = await client.execute(sql).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LibsqlError);
    expect(error).toMatchObject({ code });
  });

  test('survives names that the statement does not have', async () => {
    const error = await client.execute({ sql: 'SELECT :a, ?5', args: { b: 1 } }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ARGS_INVALID' });
  });

  test('holds a transaction open, invisible to others until it commits', async () => {
    const transaction = await client.transaction('write');
    await transaction.execute("INSERT INTO notes (title) VALUES ('mine')");
    expect((await client.execute('SELECT count(*) AS n FROM notes')).rows[0]!.n).toBe(0n);
    await transaction.commit();
    expect((await client.execute('SELECT count(*) AS n FROM notes')).rows[0]!.n).toBe(1n);
  });

  test('discards a transaction that is rolled back', async () => {
    const transaction = await client.transaction('write');
    await transaction.executeMultiple("INSERT INTO notes (title) VALUES ('a'); INSERT INTO notes (title) VALUES ('b')");
    await transaction.rollback();
    expect((await client.execute('SELECT count(*) AS n FROM notes')).rows[0]!.n).toBe(0n);
  });
});

test('drizzle migrates once', async () => {
  const address = [`${sandbox.url}/libsql/`, secrets.TURSO_AUTH_TOKEN] as const;
  await migrate(...address);
  await migrate(...address);
  const { rows } = await connect().execute("SELECT name FROM sqlite_master WHERE type = 'table'");
  expect(rows.map(({ name }) => name)).toContain('__drizzle_migrations');
});

test('can write after a write was explained', async () => {
  const client = connect();
  await client.execute('CREATE TABLE IF NOT EXISTS plain (a INTEGER)');
  for (let round = 0; round < 3; round += 1) {
    await client.execute('EXPLAIN QUERY PLAN UPDATE plain SET a = 1');
    await Promise.all(
      [1, 2, 3].map((a) => client.batch([{ sql: 'INSERT INTO plain VALUES (?)', args: [a] }], 'write')),
    );
  }
  expect((await client.execute('SELECT count(*) AS n FROM plain')).rows[0]!.n).toBe(9n);
});

test('requires its token', async () => {
  await expect(connect(createClient, 'wrong').execute('SELECT 1')).rejects.toMatchObject({ code: 'SERVER_ERROR' });
});

test('refuses what is not Hrana', async () => {
  const headers = { authorization: `Bearer ${secrets.TURSO_AUTH_TOKEN}` };
  const post = (body: string) => fetch(`${sandbox.url}/libsql/v2/pipeline`, { method: 'POST', headers, body });
  const integer = { type: 'execute', stmt: { sql: 'SELECT ?', args: [{ type: 'integer', value: 1 }] } };
  for (const body of ['', '[]', '{}', JSON.stringify({ requests: [integer] }), '{"requests":[{"type":"no"}]}'])
    expect((await post(body)).status).toBe(400);
});

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
