import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Context, Hono } from 'hono';
import { ProtocolError } from './errors.ts';
import { pipeline } from './pipeline.ts';
import type { PipelineRequest } from './protocol.ts';
import { Streams, type StreamSettings } from './stream.ts';

export type LibsqlSettings = StreamSettings & {
  /** The bearer token that callers must send, if it is set. */
  authToken?: string;
};

/** A libSQL server: the real engine on a file, with the Hrana protocol over HTTP. */
export function createLibsql({ authToken, ...settings }: LibsqlSettings): { app: Hono; close(): void } {
  mkdirSync(dirname(settings.file), { recursive: true });
  const streams = new Streams(settings);
  const app = new Hono();

  app.use(async (c, next) => {
    if (!authToken || c.req.header('authorization') === `Bearer ${authToken}`) return next();
    return c.json({ error: 'Authentication failed: The JWT is invalid' }, 401);
  });
  app.get('/version', (c) => c.text('sqld solace-sandbox'));
  app.get('/v2', (c) => c.body(null, 200));
  app.get('/v3', (c) => c.body(null, 200));
  app.post('/v2/pipeline', async (c) => c.json(await pipeline(streams, await readBody(c))));
  app.post('/v3/pipeline', async (c) => c.json(await pipeline(streams, await readBody(c))));
  app.onError((error, c) => {
    if (!(error instanceof ProtocolError)) throw error;
    return error.code ? c.json({ message: error.message, code: error.code }, 400) : c.text(error.message, 400);
  });
  return { app, close: () => streams.close() };
}

async function readBody(c: Context): Promise<PipelineRequest> {
  try {
    return await c.req.json();
  } catch {
    throw new ProtocolError('Cannot deserialize client message from JSON');
  }
}
