import * as v from 'valibot';
import { AudioType } from '../contract/chat-schemas.ts';
import { endpoints, type Endpoint, type EndpointName } from '../contract/endpoints.ts';
import { readCode } from '../contract/pasted.ts';
import { isComplete } from '../contract/visible-text.ts';
import { canonicalPhone, readPastedPhone } from '../identity/phone.ts';
import { isRecording, type Recording } from '../lib/audio.ts';
import { phoneTag } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { refuseBody } from './middleware.ts';
import type { BaseScope, IncomingRequest, Parsed } from './handlers.ts';

type Fields = Record<string, unknown>;
type Shape = NonNullable<Endpoint['input']>;

/** Throws 415 or 400. */
export function parseRequest<Name extends EndpointName>(
  name: Name,
  incoming: IncomingRequest,
  body: string | ArrayBuffer,
): Promise<Parsed<Name>>;
export async function parseRequest(
  name: EndpointName,
  incoming: IncomingRequest,
  body: string | ArrayBuffer,
): Promise<object> {
  const endpoint: Endpoint = endpoints[name];
  const { input, query, params, inputOptional, bodyLimit, bodyLimitWithVoice } = endpoint;
  const { request, pathParams } = incoming;

  const type = request.headers.get('content-type');
  const isText = typeof body === 'string';
  const sent =
    input && isText ? (body === '' && inputOptional ? {} : parseJson(type, body)) : undefined;
  const fields = sent && (await withPastedRead(sent));
  if (bodyLimitWithVoice && fields?.voice === undefined && isText && body.length > bodyLimit!)
    throw new RequestError('bodyTooLarge');

  return {
    input:
      input &&
      fields &&
      withCanonicalPhone(endpoint, named(input, validate(input, fields)), incoming),
    query: query && validate(query, Object.fromEntries(new URL(request.url).searchParams)),
    params: params && validate(params, pathParams),
    recording: isText ? undefined : parseRecording(type, body),
  };
}

function parseRecording(type: string | null, bytes: ArrayBuffer): Recording {
  if (type === null || !v.is(AudioType, type)) throw new RequestError('notAudio');
  const recording = { type, bytes };
  if (!isRecording(recording)) throw new RequestError('invalidBody');
  return recording;
}

function parseJson(contentType: string | null, text: string): Fields {
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType ?? ''))
    throw new RequestError('notJson');
  const value = tryJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RequestError('invalidBody');
  return value as Fields;
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError('invalidBody');
  }
}

async function withPastedRead(fields: Fields): Promise<Fields> {
  const { phone, otp } = fields;
  return {
    ...fields,
    ...(typeof phone === 'string' && { phone: await readPastedPhone(phone) }),
    ...(typeof otp === 'string' && { otp: readCode(otp) }),
  };
}

function validate(shape: Shape, fields: Fields): Fields {
  const result = v.safeParse(shape, withEveryKey(shape, fields), parsing);
  if (result.success) return requireComplete(result.output);
  const issues = result.issues.map((issue) => ({
    path: v.getDotPath(issue) ?? '',
    message: sentence(issue),
  }));
  throw new RequestError('invalidField', {
    message: issues[0]!.message,
    issues,
  });
}

/** No database takes half of a surrogate pair. */
function requireComplete(fields: Fields): Fields {
  const isBroken = (value: unknown) => typeof value === 'string' && !isComplete(value);
  const path = Object.keys(fields).find((name) => isBroken(fields[name]));
  if (path === undefined) return fields;

  const message = `${path} contains an incomplete character`;
  throw new RequestError('invalidField', {
    message,
    issues: [{ path, message }],
  });
}

function named({ entries }: Shape, fields: Fields): Fields {
  if (
    !('businessUserId' in entries) ||
    fields.phone !== undefined ||
    fields.businessUserId !== undefined
  )
    return fields;
  const message = 'phone or businessUserId is needed';
  throw new RequestError('invalidField', {
    message,
    issues: [{ path: 'phone', message }],
  });
}

/** So that a missing field fails by its own rule. */
function withEveryKey(shape: Shape, fields: Fields): Fields {
  const absent = Object.keys(shape.entries).map((key) => [key, undefined]);
  return { ...Object.fromEntries(absent), ...fields };
}

function withCanonicalPhone(
  { untagged }: Endpoint,
  input: Fields,
  { settings, requestLog }: IncomingRequest,
): Fields {
  if (typeof input.phone !== 'string') return input;
  const phone = canonicalPhone(input.phone);
  if (!untagged) requestLog.phone = phoneTag(settings.CODE_PEPPER[0]!, phone);
  return { ...input, phone, phoneAsSent: input.phone };
}

/** A rule without a sentence of its own gets none from the library, whose words are for programmers. */
const parsing = { abortPipeEarly: true, message: () => '' };

function sentence(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  if (issue.type === 'strict_object') return `Unknown field ${path}`;
  return issue.message || `${path} is not valid`;
}

export async function readBody(name: EndpointName, { request }: BaseScope): Promise<string> {
  const { method }: Endpoint = endpoints[name];
  return method === 'GET' ? '' : readText(request);
}

async function readText(request: Request): Promise<string> {
  const bytes = await readBytes(request);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new RequestError('invalidBody');
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const readBytes = (request: Request) => request.arrayBuffer().catch(refuseBody);
