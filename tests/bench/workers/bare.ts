import { DurableObject } from 'cloudflare:workers';
import { createClient } from '@libsql/client/web';
import { Hono } from 'hono';

type Env = {
  TURSO_DATABASE_URL: string;
  TURSO_AUTH_TOKEN: string;
  LIVE_USER: DurableObjectNamespace<LiveUser>;
};

const encoder = new TextEncoder();

/** The minimal Worker: one database request, without authorization, rules or log. */
const app = new Hono<{ Bindings: Env }>();

const open = (env: Env) =>
  createClient({
    url: env.TURSO_DATABASE_URL,
    authToken: env.TURSO_AUTH_TOKEN,
  });

async function rowOf(env: Env, user: string) {
  return (
    await open(env).execute({
      sql: 'select * from users where id = ?',
      args: [user],
    })
  ).rows[0];
}

async function change(env: Env, sql: string, value: string) {
  return (await open(env).batch([{ sql, args: [value] }], 'write'))[0]!.rows[0]!;
}

async function count(env: Env, by: 'id' | 'phone', value: string): Promise<number> {
  return (
    await change(env, `update users set used = used + 1 where ${by} = ? returning used`, value)
  ).used as number;
}

const objectOf = (env: Env, user: string) => env.LIVE_USER.getByName(user);

app.get('/api/health', (c) => c.json({ status: 'ok' }));
app.get('/api/user/me', async (c) =>
  c.json({
    success: true,
    profile: await rowOf(c.env, c.req.query('user')!),
  }),
);

app.post('/api/auth/verify-otp', async (c) => {
  const { phone } = await c.req.json<{ phone: string }>();
  const sql = 'update codes set tries_left = tries_left - 1 where phone = ? returning tries_left';
  return c.json({ success: true, code: await change(c.env, sql, phone) });
});

app.post('/api/bot/usage', async (c) => {
  const { phone } = await c.req.json<{ phone: string }>();
  return c.json({
    success: true,
    used: await count(c.env, 'phone', phone),
  });
});

app.post('/api/user/chat/messages', async (c) => {
  await c.req.json();
  return c.json({
    success: true,
    used: await count(c.env, 'id', c.req.query('user')!),
  });
});

app.post('/objects/messages', async (c) => {
  const [{ text }, user] = [await c.req.json<{ text: string }>(), c.req.query('user')!];
  await count(c.env, 'id', user);
  return c.json({
    success: true,
    seq: await objectOf(c.env, user).store(text),
  });
});

app.post('/streams/:user/reply', async (c) => {
  const { phone, text } = await c.req.json<{
    phone: string;
    text: string;
  }>();
  await count(c.env, 'phone', phone);
  return c.json({
    success: true,
    seq: await objectOf(c.env, c.req.param('user')).reply(text),
  });
});

app.post('/streams/:user/count', async (c) => {
  const { phone } = await c.req.json<{ phone: string }>();
  const used = await count(c.env, 'phone', phone);
  c.executionCtx.waitUntil(objectOf(c.env, c.req.param('user')).publish(used));
  return c.json({ success: true, used });
});

app.get('/streams/:user', (c) => objectOf(c.env, c.req.param('user')).fetch(c.req.raw));

const frameOf = (event: object) => encoder.encode(`data: ${JSON.stringify(event)}\n\n`);

/** Holds the streams of one user itself and writes to each. */
export class LiveUser extends DurableObject<Env> {
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();

  /** With `?after=` the stored messages after it come first. */
  override fetch(request: Request): Response {
    const after = new URL(request.url).searchParams.get('after');
    let controller: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
        controller.enqueue(encoder.encode(': open\n\n'));
        if (after !== null) this.#replay(controller, Number(after));
        this.#streams.add(controller);
      },
    });
    request.signal.addEventListener('abort', () => this.#streams.delete(controller));
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  #replay(controller: ReadableStreamDefaultController<Uint8Array>, after: number): void {
    const query = 'select seq, text from messages where seq > ? order by seq';
    for (const message of this.ctx.storage.sql.exec(query, after))
      controller.enqueue(frameOf({ type: 'message', message }));
  }

  store(text: string): number {
    const { sql } = this.ctx.storage;
    sql.exec('create table if not exists messages (seq integer primary key, text text not null)');
    return sql
      .exec<{ seq: number }>('insert into messages (text) values (?) returning seq', text)
      .one().seq;
  }

  reply(text: string): number {
    const seq = this.store(text);
    this.#write({ type: 'message', message: { seq, text } });
    return seq;
  }

  publish(used: number): void {
    this.#write({ type: 'usageUpdate', count: used });
  }

  #write(event: object): void {
    const frame = frameOf(event);
    for (const controller of this.#streams) controller.enqueue(frame);
  }
}

export default app;
