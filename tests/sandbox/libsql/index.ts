import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import { jsonError } from '../controls.ts';
import { Pipeline } from './hrana.ts';
import { createStreams } from './stream.ts';

/** A libSQL server: the real engine on a file, with what its client sends of the Hrana protocol over HTTP, version 2. */
export function createLibsql({ file, authToken, idleMs = 5000 }: { file: string; authToken: string; idleMs?: number }) {
  mkdirSync(dirname(file), { recursive: true });
  const streams = createStreams(file, idleMs);
  const app = new Hono();

  app.use(async (c, next) => {
    if (c.req.header('authorization') === `Bearer ${authToken}`) return next();
    return c.json({ error: 'Authentication failed: The JWT is invalid' }, 401);
  });
  app.get('/v2', (c) => c.body(null, 200));
  app.post('/v2/pipeline', async (c) => {
    const { success, output } = v.safeParse(Pipeline, await c.req.json().catch(() => undefined));
    if (!success) throw new HTTPException(400, { message: 'Cannot deserialize client message from JSON' });
    return c.json(await pipeline(streams, output));
  });
  return { app, close: () => streams.close() };
}

/** Runs the requests in order on one stream, which stays open under a baton unless closed. */
async function pipeline(
  streams: ReturnType<typeof createStreams>,
  { baton, requests }: v.InferOutput<typeof Pipeline>,
) {
  const stream = baton ? streams.resume(baton) : streams.open();
  if (!stream) throw jsonError(400, { message: 'The stream has expired due to inactivity', code: 'STREAM_EXPIRED' });
  let closed = true;
  try {
    const results: object[] = [];
    for (const request of requests) results.push(await stream.respond(request));
    closed = requests.some(({ type }) => type === 'close');
    return { baton: closed ? null : streams.keep(stream), base_url: null, results };
  } finally {
    if (closed) streams.end(stream);
  }
}
