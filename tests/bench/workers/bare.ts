import { DurableObject } from 'cloudflare:workers';
import { createClient } from '@libsql/client/web';
import { Hono } from 'hono';

type Env = { TURSO_DATABASE_URL: string; TURSO_AUTH_TOKEN: string; FEED: DurableObjectNamespace<Feed> };

const encoder = new TextEncoder();

/** The least that can answer: one request to the database, no admission, no rule, no log. */
const app = new Hono<{ Bindings: Env }>();

const open = (env: Env) => createClient({ url: env.TURSO_DATABASE_URL, authToken: env.TURSO_AUTH_TOKEN });

app.get('/api/health', (c) => c.json({ status: 'ok' }));

app.get('/api/user/me', async (c) => {
  const { rows } = await open(c.env).execute({ sql: 'select * from users where id = ?', args: [c.req.query('id')!] });
  return c.json({ success: true, profile: rows[0] });
});

app.post('/api/auth/verify-otp', async (c) => {
  const { phone } = await c.req.json<{ phone: string }>();
  const sql = 'update codes set tries_left = tries_left - 1 where phone = ? returning tries_left';
  const [result] = await open(c.env).batch([{ sql, args: [phone] }], 'write');
  return c.json({ success: true, code: result!.rows[0] });
});

app.post('/api/bot/usage', async (c) => {
  const used = await count(c.env, await c.req.json<{ phone: string }>());
  return c.json({ success: true, used });
});

app.post('/streams/:user/count', async (c) => {
  const used = await count(c.env, await c.req.json<{ phone: string }>());
  c.executionCtx.waitUntil(c.env.FEED.getByName(c.req.param('user')).publish(used));
  return c.json({ success: true, used });
});

app.post('/streams/:user/publish', async (c) => {
  const { used } = await c.req.json<{ used: number }>();
  c.executionCtx.waitUntil(c.env.FEED.getByName(c.req.param('user')).publish(used));
  return c.json({ success: true, used });
});

app.get('/streams/:user', (c) => c.env.FEED.getByName(c.req.param('user')).fetch(c.req.raw));

async function count(env: Env, { phone }: { phone: string }): Promise<number> {
  const sql = 'update users set used = used + 1 where phone = ? returning used';
  const [result] = await open(env).batch([{ sql, args: [phone] }], 'write');
  return result!.rows[0]!.used as number;
}

/** Holds the streams of one user itself and writes to each. */
export class Feed extends DurableObject<Env> {
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();

  override fetch(request: Request): Response {
    let controller: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
        controller.enqueue(encoder.encode(': open\n\n'));
        this.#streams.add(controller);
      },
    });
    request.signal.addEventListener('abort', () => this.#streams.delete(controller));
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  publish(used: number): void {
    const frame = encoder.encode(`data: {"type":"usageUpdate","count":${used}}\n\n`);
    for (const controller of this.#streams) controller.enqueue(frame);
  }
}

export default app;
