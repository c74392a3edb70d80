import * as v from 'valibot';
import type { Endpoint } from '../contract/endpoints.ts';
import { Problem } from '../problem.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bytes of a body as strict UTF-8 text; 413 over `limit` bytes, 400 for anything that is not UTF-8. */
export async function readText(request: Request, limit: number): Promise<string> {
  const declared = request.headers.get('content-length');
  if (Number(declared ?? 0) > limit) throw new Problem('bodyTooLarge');
  const bytes = declared === null ? await readBytes(request, limit) : await request.arrayBuffer();
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Problem('invalidBody');
  }
}

/** The validated input of a call; 415, 400 invalid_body or 400 invalid_field. */
export function parseInput(endpoint: Endpoint, contentType: string | null, text: string): unknown {
  if (!endpoint.input) return undefined;
  if (text === '' && endpoint.inputOptional) return v.parse(endpoint.input, {});
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType ?? '')) throw new Problem('notJson');
  const result = v.safeParse(endpoint.input, withEveryKey(endpoint.input, parseObject(text)), { abortPipeEarly: true });
  if (result.success) return result.output;
  const issues = result.issues.map((issue) => ({ path: v.getDotPath(issue) ?? '', message: sentence(issue) }));
  throw new Problem('invalidField', { message: issues[0]!.message, issues });
}

/** A body that does not say its length is read no further than it may go. */
async function readBytes(request: Request, limit: number): Promise<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limit) throw new Problem('bodyTooLarge');
    chunks.push(chunk);
  }
  return new Blob(chunks).arrayBuffer();
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Problem('invalidBody');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Problem('invalidBody');
  return value as Record<string, unknown>;
}

/** A missing field then fails by its own rule, with its own sentence. */
function withEveryKey(shape: NonNullable<Endpoint['input']>, body: Record<string, unknown>): Record<string, unknown> {
  const absent = Object.keys(shape.entries).map((key) => [key, undefined]);
  return { ...Object.fromEntries(absent), ...body };
}

function sentence(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'strict_object') return `Unknown field ${v.getDotPath(issue)}`;
  return issue.message;
}
