import { pageRoutes, type PageCall, type RouteAddress } from '#contract/routes';
import { locale } from '#words/language';
import { apiBase } from './build-settings.ts';
import { takeEarlyResponse } from '../start/early-start.ts';
import { serverClock } from './clock.ts';
import { sendFailed } from './api-error.ts';
import { fetchInTime, type SendFailure } from './fetch-in-time.ts';
import { signsOfLife } from './signs-of-life.ts';
import * as timeLimits from './time-limits.ts';

/** These calls carry much data, so they have more time. */
const transfers: ReadonlySet<PageCall> = new Set(['sendVoice', 'getVoice', 'exportMe']);

/** These calls outlive the page, which people close after them. */
const outlivePage: ReadonlySet<PageCall> = new Set([
  'logout',
  'deleteMe',
  'clearChat',
  'deleteChatConsent',
]);

export const hasParameters = ({ path }: RouteAddress) => path.includes(':');

export function addressOf(route: RouteAddress, argument: object = {}): string {
  const values = Object.entries(argument).map(([name, value]) => [name, String(value)] as const);
  if (hasParameters(route))
    return values.reduce<string>(
      (path, [name, value]) => path.replace(`:${name}`, encodeURIComponent(value)),
      route.path,
    );
  const query = new URLSearchParams(Object.fromEntries(values)).toString();
  return query ? `${route.path}?${query}` : route.path;
}

type Sending = {
  name: PageCall;
  path: string;
  token: string | null;
  input?: object | Blob | undefined;
  signal?: AbortSignal;
};

export async function sendCall(sending: Sending): Promise<Response> {
  const { name, path, token } = sending;
  const isRead = pageRoutes[name].method === 'GET';
  const early = isRead && token ? takeEarlyResponse(path, token) : null;
  const response = await (early ?? sendNow(sending, outlivePage.has(name)));
  if (!(response instanceof Response)) throw sendFailed(response);
  serverClock.learn(response.headers.get('date'));
  // A stream that has asked for a ticket is trying already.
  if (response.ok && name !== 'streamTicket') signsOfLife.note();
  return response;
}

async function sendNow(sending: Sending, keepalive: boolean): Promise<Response | SendFailure> {
  const { name, path, input, signal } = sending;
  const sent = await fetchInTime(apiBase + path, limitOf(name), {
    method: pageRoutes[name].method,
    headers: headersOf(sending),
    body: bodyFor(input),
    mode: 'cors',
    credentials: 'omit',
    // Chromium's cache lets a call wait up to 20 s for an earlier one of its address.
    cache: 'no-store',
    keepalive,
    signal: signal ?? null,
  });
  // A page's calls with `keepalive` share 64 KiB, which other scripts may have used up.
  return keepalive && sent === 'unreachable' ? sendNow(sending, false) : sent;
}

function headersOf({ token, input }: Sending): Headers {
  const headers = new Headers({ 'Accept-Language': locale });
  if (input !== undefined) headers.set('Content-Type', contentTypeOf(input));
  if (token) headers.set('Authorization', `Bearer ${token}`);
  return headers;
}

const contentTypeOf = (input: object | Blob) =>
  input instanceof Blob ? input.type : 'application/json';

function bodyFor(input: object | Blob | undefined): BodyInit | null {
  if (input === undefined) return null;
  return input instanceof Blob ? input : JSON.stringify(input);
}

function limitOf(name: PageCall): number {
  if (transfers.has(name)) return timeLimits.transferMs;
  return pageRoutes[name].method === 'GET' ? timeLimits.readingMs : timeLimits.writingMs;
}
