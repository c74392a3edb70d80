import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Context, Hono } from 'hono';
import {
  ProtocolError,
  describeError,
  type PipelineRequest,
  type StreamRequest,
  type StreamResult,
} from './statement.ts';
import { Streams, type StreamSettings, type Stream } from './connection.ts';
import { batch, execute, sequence } from './execute.ts';

export type LibsqlSettings = StreamSettings & {
  /** The bearer token that callers must send, if it is set. */
  authToken?: string;
};

/** A libSQL server: the real engine on a file, with what its client sends of the Hrana protocol over HTTP, version 2. */
export function createLibsql({ authToken, ...settings }: LibsqlSettings): { app: Hono; close(): void } {
  mkdirSync(dirname(settings.file), { recursive: true });
  const streams = new Streams(settings);
  const app = new Hono();

  app.use(async (c, next) => {
    if (!authToken || c.req.header('authorization') === `Bearer ${authToken}`) return next();
    return c.json({ error: 'Authentication failed: The JWT is invalid' }, 401);
  });
  app.get('/v2', (c) => c.body(null, 200));
  app.post('/v2/pipeline', async (c) => c.json(await pipeline(streams, await readBody(c))));
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

/** Handles one HTTP request: runs its requests in order on one stream, which stays open under a baton unless closed. */
async function pipeline(streams: Streams, { baton, requests }: PipelineRequest) {
  if (!Array.isArray(requests)) throw new ProtocolError('Cannot deserialize client message from JSON');
  const stream = baton ? streams.resume(baton) : streams.open();
  if (!stream) throw new ProtocolError('The stream has expired due to inactivity', 'STREAM_EXPIRED');
  let closed = true;
  try {
    const results: StreamResult[] = [];
    for (const request of requests) results.push(await respond(stream, request));
    closed = requests.some(({ type }) => type === 'close');
    return { baton: closed ? null : streams.keep(stream), base_url: null, results };
  } finally {
    if (closed) streams.end(stream);
  }
}

async function respond(stream: Stream, request: StreamRequest): Promise<StreamResult> {
  try {
    return { type: 'ok', response: { type: request.type, ...(await perform(stream, request)) } };
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return { type: 'error', error: describeError(error) };
  }
}

async function perform(stream: Stream, request: StreamRequest): Promise<Record<string, unknown>> {
  if (request.type === 'execute') return { result: await execute(stream, request.stmt) };
  if (request.type === 'batch') return { result: await batch(stream, request.batch) };
  if (request.type === 'sequence') await sequence(stream, request);
  else if (request.type === 'store_sql') stream.texts.set(request.sql_id, request.sql);
  else if (request.type === 'close_sql') stream.texts.delete(request.sql_id);
  else if (request.type !== 'close') throw new ProtocolError('Cannot deserialize client message from JSON');
  return {};
}
