import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { createClient, LibsqlBatchError, LibsqlError } from '@libsql/client';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { listen } from '../stripe/listen.ts';
import { secrets, startTestSandbox } from '../test-sandbox.ts';
import { createLibsql } from './index.ts';

const sandbox = await startTestSandbox();
afterAll(() => sandbox.close());

const url = `${sandbox.url}/libsql/`;
const authToken = secrets.TURSO_AUTH_TOKEN;
const insert = (title: string) => `INSERT INTO notes (title) VALUES ('${title}')`;
const failure = (work: Promise<unknown>) => work.catch((thrown: unknown) => thrown);
const schema = `
  DROP TABLE IF EXISTS notes;
  CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT UNIQUE, body BLOB, weight REAL NOT NULL DEFAULT 1);
`;

const client = createClient({ url, authToken, intMode: 'bigint' });
const titles = async () =>
  (await client.execute('SELECT title FROM notes')).rows.map(({ title }) => title);
beforeEach(() => client.executeMultiple(schema));

test('returns each value as it was sent', async () => {
  const blob = new Uint8Array([0, 255, 128]).buffer;
  const sent = [9_223_372_036_854_775_807n, -1n, 0.1, 'naïve "text"; -- 🌿', null, blob];
  const { rows } = await client.execute({
    sql: 'SELECT ?, ?, ?, ?, ?, ?',
    args: sent,
  });
  expect(Array.from({ length: sent.length }, (_, i) => rows[0]![i])).toEqual(sent);
});

test('binds numbers as REAL and bigint as INTEGER', async () => {
  const sql = 'SELECT typeof(?) AS number, typeof(?) AS bigint, typeof(?) AS boolean';
  const { rows } = await client.execute({ sql, args: [1, 1n, true] });
  expect(rows).toMatchObject([
    {
      number: 'real',
      bigint: 'integer',
      boolean: 'integer',
    },
  ]);
});

test('returns columns, their types, affected rows and the last rowid', async () => {
  const sql = 'INSERT INTO notes (id, title) VALUES (:id, $title)';
  const written = await client.execute({
    sql,
    args: { id: 7n, title: 'a' },
  });
  expect(written).toMatchObject({
    rowsAffected: 1,
    lastInsertRowid: 7n,
    rows: [],
  });
  const { columns, columnTypes, rowsAffected } = await client.execute(
    'SELECT id, title, count(*) AS n FROM notes',
  );
  expect(columns).toEqual(['id', 'title', 'n']);
  expect(columnTypes).toEqual(['INTEGER', 'TEXT', '']);
  expect(rowsAffected).toBe(0);
  const returned = await client.execute("UPDATE notes SET title = 'b' RETURNING id, title");
  expect(returned).toMatchObject({
    rowsAffected: 1,
    rows: [{ id: 7n, title: 'b' }],
  });
});

test('keeps a batch whole', async () => {
  const error = await failure(client.batch([insert('a'), insert('a')], 'write'));
  expect(error).toBeInstanceOf(LibsqlBatchError);
  expect(error).toMatchObject({
    code: 'SQLITE_CONSTRAINT',
    statementIndex: 1,
  });
  expect(await titles()).toEqual([]);
});

test.each([
  ['SELEC 1', 'SQL_PARSE_ERROR'],
  ['', 'SQL_NO_STATEMENT'],
  ['-- nothing', 'SQL_NO_STATEMENT'],
  ['SELECT 1; SELECT 2', 'SQL_MANY_STATEMENTS'],
  ['SELECT * FROM nowhere', 'SQLITE_UNKNOWN'],
  ['INSERT INTO notes (weight) VALUES (NULL)', 'SQLITE_CONSTRAINT'],
  ['SELECT ?', 'ARGS_INVALID'],
  [{ sql: 'SELECT :a, ?5', args: { b: 1 } }, 'ARGS_INVALID'],
])('responds to %o with %s', async (statement, code) => {
  const error = await failure(client.execute(statement));
  expect(error).toBeInstanceOf(LibsqlError);
  expect(error).toMatchObject({ code });
});

test('holds a transaction open, invisible to others until it commits', async () => {
  const transaction = await client.transaction('write');
  await transaction.execute(insert('mine'));
  expect(await titles()).toEqual([]);
  await transaction.commit();
  expect(await titles()).toEqual(['mine']);
});

test('can write after a write was explained', async () => {
  const write = (weight: number) =>
    client.batch([['INSERT INTO notes (weight) VALUES (?)', [weight]]], 'write');
  for (let round = 0; round < 3; round += 1) {
    await client.execute('EXPLAIN QUERY PLAN UPDATE notes SET weight = 1');
    await Promise.all([1, 2, 3].map(write));
  }
  expect((await client.execute('SELECT count(*) AS n FROM notes')).rows[0]!.n).toBe(9n);
});

test('requires its token', async () => {
  const stranger = createClient({ url, authToken: 'wrong' });
  await expect(stranger.execute('SELECT 1')).rejects.toMatchObject({ code: 'SERVER_ERROR' });
});

const select = (arg: object) => ({
  requests: [{ type: 'execute', stmt: { sql: 'SELECT ?', args: [arg] } }],
});
test.each([
  [''],
  ['[]'],
  ['{}'],
  [select({ type: 'integer', value: 1 })],
  [select({ type: 'integer', value: '9223372036854775808' })],
  [{ requests: [{ type: 'no' }] }],
  [{ requests: [{ type: 'execute', stmt: { sql_id: 1 } }] }],
])('refuses what is not Hrana: %o', async (body) => {
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${authToken}` },
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  expect(
    (
      await fetch(`${url}v2/pipeline`, {
        ...init,
        body: text,
      })
    ).status,
  ).toBe(400);
});

test('writers wait for each other', async () => {
  const append = async () => {
    const transaction = await client.transaction('write');
    const { rows } = await transaction.execute('SELECT count(*) AS n FROM notes');
    await transaction.execute({
      sql: 'INSERT INTO notes (title) VALUES (?)',
      args: [rows[0]!.n as bigint],
    });
    await transaction.commit();
  };
  await Promise.all(Array.from({ length: 50 }, append));
  expect((await client.execute('SELECT count(DISTINCT title) AS n FROM notes')).rows[0]!.n).toBe(
    50n,
  );
});

test('an idle transaction is rolled back, and the waiting ones continue', async () => {
  const libsql = createLibsql({
    authToken,
    idleMs: 2000,
    file: join(sandbox.stateDir, 'another.db'),
  });
  const server = await listen(0);
  const listener = getRequestListener(libsql.app.fetch, { overrideGlobalObjects: false });
  server.serve((request, response) => void listener(request, response));
  onTestFinished(async () => {
    await server.close();
    libsql.close();
  });
  const client = createClient({
    url: `http://127.0.0.1:${server.port}`,
    authToken,
  });
  await client.executeMultiple(schema);
  const silent = await client.transaction('write');
  await silent.execute(insert('silent'));
  await client.execute(insert('patient'));
  expect((await client.execute('SELECT title FROM notes')).rows).toMatchObject([
    { title: 'patient' },
  ]);
  await expect(silent.commit()).rejects.toMatchObject({ code: 'STREAM_EXPIRED' });
});

test('a statement prepared before the schema changed sees the new column, on every connection', async () => {
  await client.execute(insert('a'));
  const columns = async () => (await client.execute('SELECT * FROM notes')).columns;
  const columnsOnAnother = async () => {
    const transaction = await client.transaction('read');
    await transaction.execute('SELECT 1');
    const found = await columns();
    await transaction.commit();
    return found;
  };
  await columnsOnAnother();
  await client.execute("ALTER TABLE notes ADD COLUMN mood TEXT DEFAULT 'calm'");
  expect(await columns()).toContain('mood');
  expect(await columnsOnAnother()).toContain('mood');
});

test('foreign keys hold, also after a migration switched them off', async () => {
  await client.execute('CREATE TABLE tags (note REFERENCES notes (id))');
  await client.migrate(['DROP TABLE notes', 'CREATE TABLE notes (id INTEGER PRIMARY KEY)']);
  await expect(client.execute('INSERT INTO tags VALUES (1)')).rejects.toMatchObject({
    code: 'SQLITE_CONSTRAINT',
  });
});
