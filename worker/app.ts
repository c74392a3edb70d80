import { Hono, type Context } from 'hono';
import { requestId } from 'hono/request-id';
import {
  defaultBodyLimit,
  endpoints,
  type Endpoint,
  type EndpointName,
} from './contract/endpoints.ts';
import { routes } from './endpoints/index.ts';
import { errorResponse, toRequestError } from './http/error-response.ts';
import {
  allowOrigins,
  apiHeaders,
  limitBody,
  logRequest,
  logRoute,
  requireSettings,
  type AppEnv,
} from './http/middleware.ts';
import { callerAddress, callerLanguage } from './lib/caller.ts';
import { openDatabase } from './lib/database.ts';
import { describeError, inBackground } from './lib/log.ts';
import { RequestError } from './lib/request-error.ts';

const table = Object.entries(endpoints) as [EndpointName, Endpoint][];

export const app = new Hono<AppEnv>();

// A caller's request id is ignored, since it
// could imitate another request in the log.
app.use(requestId({ headerName: '' }), logRequest, apiHeaders, requireSettings);
for (const [path, group] of Map.groupBy(table, ([, { path }]) => path)) addPath(path, group);
// Pages of other origins may read the 404, too.
app.use('/api/*', allowOrigins(['GET', 'POST', 'PUT', 'DELETE'], false));
app.notFound((c) => refuse(new RequestError('notFound'), c));
app.onError(refuse);

function addPath(path: string, group: [EndpointName, Endpoint][]): void {
  const methods = group.map(([, { method }]) => method);
  const notAllowed = new RequestError('methodNotAllowed', { allow: methods.join(', ') });
  const credentials = group.some(([, { tokenInQuery }]) => tokenInQuery);
  app.use(path, logRoute(path), allowOrigins(methods, credentials));

  for (const [name, endpoint] of group) {
    const limit =
      endpoint.method === 'GET'
        ? []
        : [limitBody(endpoint.bodyLimitWithVoice ?? endpoint.bodyLimit ?? defaultBodyLimit)];
    app.on(endpoint.method, [path], ...limit, (c) => {
      // Hono responds to HEAD with the handler of GET.
      if (endpoint.noHead && c.req.raw.method === 'HEAD') throw notAllowed;
      return respond(name, c);
    });
  }

  app.all(path, () => {
    throw notAllowed;
  });
}

async function respond(name: EndpointName, c: Context<AppEnv>): Promise<Response> {
  const requestLog = c.get('requestLog');
  const settings = c.get('settings');
  const running = routes[name].run({
    request: c.req.raw,
    pathParams: c.req.param(),
    requestLog,
    address: callerAddress(c.req.raw.headers),
    language: callerLanguage(c.req.raw.headers),
    now: Date.now(),
    env: c.env,
    settings,
    db: openDatabase(settings, requestLog.traffic),
    waitUntil: (work: Promise<unknown>) =>
      c.executionCtx.waitUntil(inBackground(work, requestLog.requestId)),
  });

  if (endpoints[name].method !== 'GET') c.executionCtx.waitUntil(running.catch(() => undefined));
  const result = await running;
  return result instanceof Response ? result : Response.json(result);
}

function refuse(error: Error, c: Context<AppEnv>): Response {
  const requestLog = c.get('requestLog');
  requestLog.error = toRequestError(error, requestLog.traffic);
  if (requestLog.error.errorName === 'internal') requestLog.unexpected = describeError(error);
  return errorResponse(requestLog.error);
}
