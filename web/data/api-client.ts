import type { Endpoints, Input, Output, Params, Query } from '#contract/endpoints';
import { pageRoutes, type PageCall, type Route } from '#contract/routes';
import type { ErrorCode } from '#contract/errors';
import {
  errorText,
  ApiError,
  sessionEnded,
  sessionReplaced,
  handleRequestError,
  notifyError,
} from './api-errors.ts';
import { tokenExpired } from '../rules/token-claims.ts';
import { apiErrorWords } from '#words/api-errors';
import { locale } from '#words/language';
import { errorWords } from '#words/page-errors';
import { apiBase } from './build-settings.ts';
import { takeEarlyResponse } from './early-start.ts';
import { showToast } from './toasts.ts';
import { session } from './session.ts';

/** The argument of a call: its body, the parameters of its path, its query, or nothing. */
type Arguments<Name extends PageCall> = Endpoints[Name] extends { inputOptional: true }
  ? [Input<Name>?]
  : Argument<Name> extends undefined
    ? []
    : [Argument<Name>];
type Argument<Name extends PageCall> =
  Input<Name> extends undefined
    ? Params<Name> extends undefined
      ? Query<Name>
      : Params<Name>
    : Input<Name>;
/** `message` is a sentence, except in the response to a chat message. */
type Body = { success?: boolean; message?: unknown; error?: unknown; code?: ErrorCode };

/** Calls whose results the page itself shows. */
const notifiedByPage: ReadonlySet<PageCall> = new Set(['deleteMe']);

/** Calls the API with the current token. Throws an `ApiError`, which the caller shows unless it is notified already. */
export async function request<Name extends PageCall>(
  name: Name,
  ...given: Arguments<Name>
): Promise<Output<Name>> {
  const isProtected = pageRoutes[name].access === 'user';
  return requestAs(
    isProtected ? (session.get().token ?? session.storedToken()) : null,
    name,
    ...given,
  );
}

/** As `request`, with a given token. A response that arrives after the session of that token has ended is an error. */
export async function requestAs<Name extends PageCall>(
  token: string | null,
  name: Name,
  ...[argument]: Arguments<Name>
): Promise<Output<Name>> {
  return withSession(token, name, async (route) => {
    const body = await fetchBody(route, token, argument as object | undefined);
    const isShown = route.method !== 'GET' && !notifiedByPage.has(name);
    const sentence = sentenceOf(body);
    if (isShown && body.success && sentence && isCurrent(token))
      showToast({ type: 'success', title: sentence });
    // The contract defines the response.
    return body as Output<Name>;
  });
}

/** Sends a recording; the same id and bytes may be sent again. */
export async function sendRecording(
  token: string,
  query: { id: string; seconds: number },
  recording: Blob,
): Promise<Output<'sendVoice'>> {
  return withSession(token, 'sendVoice', async (route) => {
    const response = await send(route.method, addressOf(route, query), token, recording);
    return (await bodyOf(response, token)) as Output<'sendVoice'>;
  });
}

export async function fetchRecording(token: string, id: string): Promise<Blob> {
  return withSession(token, 'getVoice', async (route) => {
    const response = await send(route.method, addressOf(route, { id }), token);
    if (!response.ok) await bodyOf(response, token);
    return response.blob();
  });
}

async function withSession<Result>(
  token: string | null,
  name: PageCall,
  run: (route: Route) => Promise<Result>,
): Promise<Result> {
  const route: Route = pageRoutes[name];
  try {
    if (route.access === 'user') assertUsable(token);
    const result = await run(route);
    if (!isCurrent(token)) throw sessionReplaced();
    return result;
  } catch (error) {
    if (error instanceof ApiError) handleRequestError(error, token);
    throw error;
  }
}

const isCurrent = (token: string | null) => token === null || session.get().token === token;

/** As `request`; shows an error before it throws it. */
export async function call<Name extends PageCall>(
  name: Name,
  ...given: Arguments<Name>
): Promise<Output<Name>> {
  return request(name, ...given).catch((error: unknown) => {
    notifyError(error);
    throw error;
  });
}

/** Ends a session at the server after it has ended here. If the call fails, the token expires by itself. */
export function revoke(token: string): void {
  if (tokenExpired(token, Date.now())) return;
  void fetchBody(pageRoutes.logout, token, { everywhere: false }).catch(() => null);
}

function assertUsable(token: string | null): asserts token is string {
  const stored = session.storedToken();
  if (!token || !stored)
    throw new ApiError(errorWords.noToken, {
      toast: errorWords.pleaseLogIn,
      code: 'token_missing',
    });
  if (stored !== token) throw sessionReplaced();
  if (tokenExpired(token, Date.now()))
    throw new ApiError(errorWords.tokenExpired, { code: 'token_expired' });
}

async function fetchBody(route: Route, token: string | null, argument?: object): Promise<Body> {
  const hasBody = route.method !== 'GET' && !hasParameters(route);
  const path = hasBody ? route.path : addressOf(route, argument);
  return bodyOf(await send(route.method, path, token, hasBody ? argument : undefined), token);
}

/** The body of a successful response; throws an `ApiError` for another one. */
async function bodyOf(response: Response, token: string | null): Promise<Body> {
  const body = inLanguage(await response.json().catch(() => ({})));
  if (response.ok) return body;
  const hasSessionEnded = token !== null && body.code === sessionEnded;
  const { error, toast } = errorText(response.status, sentenceOf(body), hasSessionEnded, body.code);
  throw new ApiError(error, { toast, status: response.status, code: body.code });
}

/** The API's sentences are English: a page in another language shows its own for the code, or for the call. */
function inLanguage(body: Body): Body {
  if (locale === 'en' || (typeof body.message !== 'string' && body.error === undefined))
    return body;
  const { message: _english, error: _text, ...rest } = body;
  const own = (apiErrorWords as Partial<Record<string, string>>)[body.code ?? ''];
  return own === undefined ? rest : { ...rest, message: own };
}

const sentenceOf = ({ message }: Body) => (typeof message === 'string' ? message : undefined);

const hasParameters = ({ path }: Route) => path.includes(':');

/** The path with its parameters filled in, else with the argument as its query. */
function addressOf(route: Route, argument: object = {}): string {
  const values = Object.entries(argument).map(([name, value]) => [name, String(value)] as const);
  if (hasParameters(route))
    return values.reduce<string>(
      (path, [name, value]) => path.replace(`:${name}`, encodeURIComponent(value)),
      route.path,
    );
  const query = new URLSearchParams(Object.fromEntries(values)).toString();
  return query ? `${route.path}?${query}` : route.path;
}

async function send(
  method: Route['method'],
  path: string,
  token: string | null,
  input?: object | Blob,
): Promise<Response> {
  const early = method === 'GET' && token ? takeEarlyResponse(path, token) : null;
  if (early) return early.catch(networkError);
  const headers = new Headers({ 'Accept-Language': locale });
  const isRecording = input instanceof Blob;
  if (isRecording) headers.set('Content-Type', input.type);
  else if (input !== undefined) headers.set('Content-Type', 'application/json');
  if (token) headers.set('Authorization', `Bearer ${token}`);
  return fetch(apiBase + path, {
    method,
    headers,
    body: isRecording ? input : input === undefined ? null : JSON.stringify(input),
    mode: 'cors',
    credentials: 'omit',
    // Otherwise Chromium's cache lets a call wait up to 20 s for an earlier one of the same address, even another user's.
    cache: 'no-store',
    // Logging out and deleting must reach the server even if the page is closed immediately. Browsers allow it up to 64 KiB.
    keepalive: !isRecording && (method === 'POST' || method === 'DELETE'),
  }).catch(networkError);
}

function networkError(): never {
  throw new ApiError(errorWords.network, { code: 'network' });
}
