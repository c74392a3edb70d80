import { readBotCall } from '../bot/signed-call.ts';
import { endpoints, type Endpoint, type EndpointName } from '../contract/endpoints.ts';
import type { ErrorName } from '../contract/errors.ts';
import { RequestError } from '../lib/request-error.ts';
import { bearerToken, sessionFromQuery, verifyToken } from '../sign-in/session-token.ts';
import { UserSession, type SessionClaims } from '../identity/user-session.ts';
import type {
  BotHandler,
  PublicHandler,
  SupportHandler,
  UserHandler,
  WebhookHandler,
  BaseContext,
  IncomingRequest,
  NameOf,
  Parsed,
} from './request-context.ts';
import {
  countFailure,
  isWithinAddress,
  limitByNumber,
  refuseLargeBody,
  withinUserLimit,
} from './limit-calls.ts';
import { refuseBody } from './middleware.ts';
import * as v from 'valibot';
import { AudioType } from '../contract/chat-schemas.ts';
import { canonicalPhone, readPastedPhone } from '../identity/phone.ts';
import { readCode } from '../contract/pasted.ts';
import { limitedSessionMacs } from '../lib/bindings.ts';
import { isRecording, type Recording } from '../lib/audio.ts';
import { phoneTag } from '../lib/log.ts';

export type Route<Name extends EndpointName = EndpointName> = {
  name: Name;
  run: (incoming: IncomingRequest) => Promise<unknown>;
};

export function publicRoute<Name extends NameOf<'public'>>(
  name: Name,
  handler: PublicHandler<Name>,
): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      const isWithin = await isWithinAddress(name, incoming);
      if (!isWithin && !namesNumber(endpoints[name])) throw new RequestError('rateLimited');
      const parsed = await parseRequest(name, incoming, await readBody(name, incoming));
      if (!isWithin) await limitByNumber(name, incoming, phoneIn(parsed));
      return handler({ ...incoming, ...parsed });
    },
  };
}

export function userRoute<Name extends NameOf<'user'>>(
  name: Name,
  handler: UserHandler<Name>,
): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      const session = await proven(incoming, () => sessionOf(endpoints[name], incoming));
      return withinUserLimit(incoming, session, async () => {
        const { recording }: Endpoint = endpoints[name];
        const body = recording ? await readBytes(incoming.request) : await readBody(name, incoming);
        const parsed = await parseRequest(name, incoming, body);
        return (await handler({ ...incoming, ...parsed, session })).value;
      });
    },
  };
}

export function botRoute<Name extends NameOf<'bot'>>(
  name: Name,
  handler: BotHandler<Name>,
): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      refuseLargeBody(incoming);
      const { body, botCall } = await proven(incoming, () =>
        readBotCall(incoming, () => readBody(name, incoming)),
      );
      return handler({ ...incoming, ...(await parseRequest(name, incoming, body)), botCall });
    },
  };
}

export function webhookRoute<Name extends NameOf<'stripe' | 'whatsapp'>>(
  name: Name,
  handler: WebhookHandler<Name>,
): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      refuseLargeBody(incoming);
      const context = { ...incoming, readBody: () => readBody(name, incoming) };
      return proven(incoming, () => handler(context));
    },
  };
}

/**
 * For the owner's support command, which signs
 * a token for one account with `SESSION_KEYS`.
 */
export function supportRoute<Name extends NameOf<'support'>>(
  name: Name,
  handler: SupportHandler<Name>,
): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      const { userId } = await proven(incoming, () => supportedBy(incoming));
      const body = await readBody(name, incoming);
      return handler({
        ...incoming,
        ...(await parseRequest(name, incoming, body)),
        userId,
      });
    },
  };
}

async function supportedBy({ request, settings }: BaseContext): Promise<SessionClaims> {
  const token = bearerToken(request);
  const claims = await verifyToken(settings.SESSION_KEYS, ['support+jwt'], token);
  if (!claims) throw new RequestError('unauthenticated');
  return claims;
}

async function sessionOf(endpoint: Endpoint, context: BaseContext): Promise<UserSession> {
  const { request, settings } = context;
  const claims = endpoint.tokenInQuery
    ? await sessionFromQuery(settings.SESSION_KEYS, request)
    : await verifyToken(settings.SESSION_KEYS, ['session+jwt'], bearerToken(request));
  if (!claims) throw new RequestError('unauthenticated');
  if (!endpoint.needsSignIn) return new UserSession(claims, context, endpoint);
  const limitedMacs = await limitedSessionMacs(settings, claims.sessionId);
  return new UserSession({ ...claims, limitedMacs }, context, endpoint);
}

const refusals = new Set<ErrorName>([
  'invalidBotSignature',
  'invalidStripeSignature',
  'invalidToken',
  'unauthenticated',
]);

/**
 * Does work that finds out who calls; a wrong
 * signature or token counts for the address.
 */
async function proven<Result>(context: BaseContext, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isRefusal = error instanceof RequestError && refusals.has(error.errorName);
    throw isRefusal ? countFailure(context, error) : error;
  }
}

const namesNumber = ({ input }: Endpoint) => input !== undefined && 'phone' in input.entries;

function phoneIn({ input }: { input?: unknown }): string | undefined {
  return (input as { phone?: string } | undefined)?.phone;
}

async function readBody(name: EndpointName, { request }: BaseContext): Promise<string> {
  const { method }: Endpoint = endpoints[name];
  return method === 'GET' ? '' : readText(request);
}

type Fields = Record<string, unknown>;
type Shape = NonNullable<Endpoint['input']>;

/**
 * The validated input; `body` is text unless the call takes a
 * recording. Throws 415, or 400 `invalid_body` or `invalid_field`.
 */
function parseRequest<Name extends EndpointName>(
  name: Name,
  incoming: IncomingRequest,
  body: string | ArrayBuffer,
): Promise<Parsed<Name>>;
async function parseRequest(
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

/** Numbers and codes may come as somebody has pasted them. */
async function withPastedRead(fields: Fields): Promise<Fields> {
  const { phone, otp } = fields;
  return {
    ...fields,
    ...(typeof phone === 'string' && { phone: await readPastedPhone(phone) }),
    ...(typeof otp === 'string' && { otp: readCode(otp) }),
  };
}

function validate(shape: Shape, fields: Fields): Fields {
  const result = v.safeParse(shape, withEveryKey(shape, fields), { abortPipeEarly: true });
  if (result.success) return result.output;
  const issues = result.issues.map((issue) => ({
    path: v.getDotPath(issue) ?? '',
    message: sentence(issue),
  }));
  throw new RequestError('invalidField', { message: issues[0]!.message, issues });
}

/**
 * A call of the bot names a person by the number or by the business-scoped id.
 */
function named({ entries }: Shape, fields: Fields): Fields {
  if (
    !('businessUserId' in entries) ||
    fields.phone !== undefined ||
    fields.businessUserId !== undefined
  )
    return fields;
  const message = 'phone or businessUserId is needed';
  throw new RequestError('invalidField', { message, issues: [{ path: 'phone', message }] });
}

/** So that a missing field fails by its own rule, with its own message. */
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

function sentence(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'strict_object') return `Unknown field ${v.getDotPath(issue)}`;
  return issue.message;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The body as strict UTF-8 text; throws 400 for anything that is not UTF-8. */
async function readText(request: Request): Promise<string> {
  const bytes = await readBytes(request);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new RequestError('invalidBody');
  }
}

const readBytes = (request: Request) => request.arrayBuffer().catch(refuseBody);
