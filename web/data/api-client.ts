import type { Endpoints, Input, Output, Params, Query } from '#contract/endpoints';
import { pageRoutes, type PageCall, type RouteAddress } from '#contract/routes';
import type { ErrorCode } from '#contract/errors';
import { ApiError, sessionEnded, sessionReplaced } from './api-error.ts';
import { handleRequestError } from './error-handling.ts';
import { errorText, notifyError } from './error-toasts.ts';
import { tokenExpired } from '../rules/token-claims.ts';
import { apiErrorWords } from '#words/api-errors';
import { locale } from '#words/language';
import { errorWords } from '#words/page-errors';
import { serverClock } from './clock.ts';
import { addressOf, hasParameters, sendCall } from './api-transport.ts';
import { showToast } from './toasts.ts';
import { session } from './session.ts';

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
/** The body of any response. `message` is a sentence, except in responses about a chat message. */
type Body = {
  success?: boolean;
  message?: unknown;
  error?: unknown;
  code?: ErrorCode;
  resetsAt?: string;
  linkCode?: string;
  newOwner?: true;
};

const notifiedByPage: ReadonlySet<PageCall> = new Set(['deleteMe']);

/** Throws an `ApiError`, which the caller shows unless it is notified already. */
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

/** Calls as `token`, and throws if its session has ended before the response. */
export async function requestAs<Name extends PageCall>(
  token: string | null,
  name: Name,
  ...[argument]: Arguments<Name>
): Promise<Output<Name>> {
  return withSession(token, name, async (route) => {
    const body = await fetchBody(name, token, argument as object | undefined);
    const isShown = route.method !== 'GET' && !notifiedByPage.has(name);
    const sentence = sentenceOf(body);
    const isSuccess = body.success === true && isStillCurrent(token);
    if (isShown && isSuccess && sentence) showToast({ type: 'success', title: sentence });
    // The contract defines the response.
    return body as Output<Name>;
  });
}

/** Sends a recording. The same id and bytes may be sent again. */
export async function sendRecording(
  token: string,
  query: { id: string; seconds: number },
  recording: Blob,
  signal: AbortSignal,
): Promise<Output<'sendVoice'>> {
  return withSession(token, 'sendVoice', async (route) => {
    const path = addressOf(route, query);
    const sending = { name: 'sendVoice', path, token, input: recording, signal } as const;
    const response = await sendCall(sending);
    return (await bodyOf(response, token)) as Output<'sendVoice'>;
  });
}

export async function fetchRecording(token: string, id: string): Promise<Blob> {
  return withSession(token, 'getVoice', async (route) => {
    const path = addressOf(route, { id });
    const response = await sendCall({ name: 'getVoice', path, token });
    if (!response.ok) await bodyOf(response, token);
    return response.blob();
  });
}

async function withSession<Result>(
  token: string | null,
  name: PageCall,
  run: (route: RouteAddress) => Promise<Result>,
): Promise<Result> {
  const route: RouteAddress = pageRoutes[name];

  try {
    if (route.access === 'user') await assertUsable(token);
    const result = await run(route);
    if (!isStillCurrent(token)) throw sessionReplaced();
    return result;
  } catch (error) {
    if (error instanceof ApiError) handleRequestError(error, token);
    throw error;
  }
}

const isStillCurrent = (token: string | null) => token === null || session.get().token === token;

/** Calls as the session of now, and shows an error before it throws it. */
export async function requestWithToast<Name extends PageCall>(
  name: Name,
  ...given: Arguments<Name>
): Promise<Output<Name>> {
  return request(name, ...given).catch((error: unknown) => {
    notifyError(error);
    throw error;
  });
}

/** Ends the session of `token` at the server. If this fails, the token expires by itself. */
export function revoke(token: string): void {
  void fetchBody('logout', token, { everywhere: false }).catch(() => null);
}

async function assertUsable(token: string | null): Promise<void> {
  const stored = session.storedToken();
  if (!token || !stored)
    throw new ApiError(errorWords.noToken, {
      toast: errorWords.pleaseLogIn,
      code: 'token_missing',
    });
  if (stored !== token) throw sessionReplaced();
  if (await hasExpired(token))
    throw new ApiError(errorWords.tokenExpired, { code: 'token_expired' });
}

/** Decides by the server's clock, which is asked if the device's says that the token has expired. */
async function hasExpired(token: string): Promise<boolean> {
  if (!tokenExpired(token, serverClock.now())) return false;
  return (await askServerTime()) && tokenExpired(token, serverClock.now());
}

/** Learns the server's time by its cheapest call. Returns whether it has responded. */
export async function askServerTime(): Promise<boolean> {
  if (serverClock.isKnown) return true;
  return request('getCountry').then(
    () => true,
    () => false,
  );
}

async function fetchBody(name: PageCall, token: string | null, argument?: object): Promise<Body> {
  const route: RouteAddress = pageRoutes[name];
  const hasBody = route.method !== 'GET' && !hasParameters(route);
  const path = hasBody ? route.path : addressOf(route, argument);
  const input = hasBody ? argument : undefined;
  return bodyOf(await sendCall({ name, path, token, input }), token);
}

/** Reads a response, and throws an `ApiError` for a refusal. */
async function bodyOf(response: Response, token: string | null): Promise<Body> {
  const body = inLanguage(await response.json().catch(() => ({})));
  if (response.ok) return body;
  const hasSessionEnded = token !== null && body.code === sessionEnded;
  const { error, toast } = errorText({
    status: response.status,
    message: sentenceOf(body),
    hasSessionEnded,
    code: body.code,
  });
  const { linkCode } = body;
  const code = body.newOwner ? 'new_owner' : body.code;
  const until = untilOf(response, body);
  throw new ApiError(error, { toast, status: response.status, code, until, linkCode });
}

/** Returns when the call may succeed. Only a 429 says so: `retry-after` of a 503 is when to ask again. */
function untilOf({ status, headers }: Response, { resetsAt }: Body): string | null {
  const seconds = Number(headers.get('retry-after'));
  if (resetsAt || status !== 429 || !(seconds > 0)) return resetsAt ?? null;
  return new Date(serverClock.now() + 1000 * seconds).toISOString();
}

/** Removes the API's English sentences where the page is in another language. */
function inLanguage(body: Body): Body {
  if (locale === 'en' || (typeof body.message !== 'string' && body.error === undefined))
    return body;
  const { message: _english, error: _text, ...rest } = body;
  const own = (apiErrorWords as Partial<Record<string, string>>)[body.code ?? ''];
  return own === undefined ? rest : { ...rest, message: own };
}

const sentenceOf = ({ message }: Body) => (typeof message === 'string' ? message : undefined);
