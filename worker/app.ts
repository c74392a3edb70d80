import { Hono } from 'hono';
import { endpoints, type Endpoint, type EndpointName } from './contract/endpoints.ts';
import { openDatabase } from './db.ts';
import { handlers } from './endpoints/index.ts';
import type { Env } from './env.ts';
import { callerAddress } from './http/address.ts';
import { admit } from './http/admit.ts';
import { problemOf, surpriseOf } from './http/answer.ts';
import type { Call, Handler } from './http/call.ts';
import { corsHeaders, preflightHeaders } from './http/cors.ts';
import { Exchange } from './http/exchange.ts';
import { Problem, problemResponse } from './problem.ts';
import { settingsOf, type Settings } from './settings.ts';

type App = { Bindings: Env; Variables: { settings: Settings; exchange: Exchange } };

const byPath = Map.groupBy(Object.entries(endpoints) as [EndpointName, Endpoint][], ([, { path }]) => path);

export const app = new Hono<App>();

app.use(async function describeExchange(c, next) {
  const exchange = new Exchange();
  c.set('exchange', exchange);
  const settings = settingsOf(c.env);
  if (settings) {
    c.set('settings', settings);
    await next();
  } else {
    c.res = refuse(exchange, new Problem('unavailable', { retryAfter: 60 }));
  }
  exchange.log(c.req.method, c.res.status);
});

for (const [path, group] of byPath) {
  const allow = group.map(([, { method }]) => method).join(', ');
  const withCredentials = group.some(([, { tokenInQuery }]) => tokenInQuery);

  app.use(path, async function allowListedOrigins(c, next) {
    const { headers } = Object.assign(c.get('exchange'), { route: path });
    Object.assign(headers, corsHeaders(c.req.header('origin'), c.get('settings'), withCredentials));
    if (c.req.method !== 'OPTIONS') return next();
    return new Response(null, { status: 204, headers: { ...headers, ...preflightHeaders(allow) } });
  });

  for (const [name, endpoint] of group) {
    app.on(endpoint.method, path, async function answerCall(c) {
      const exchange = c.get('exchange');
      const settings = c.get('settings');
      const call = {
        request: c.req.raw,
        exchange,
        address: callerAddress(c.req.raw.headers),
        now: Date.now(),
        env: c.env,
        settings,
        db: openDatabase(settings, exchange.traffic),
        later: (work: Promise<unknown>) => c.executionCtx.waitUntil(work),
      } as Call;
      await admit(endpoint, call);
      const answer = await (handlers[name] as Handler<EndpointName>)(call);
      if (endpoint.access === 'user' && !call.caller.loaded) throw new Error(`${name} answered without its caller`);
      return answer instanceof Response
        ? withHeaders(answer, exchange)
        : Response.json(answer, { headers: exchange.headers });
    });
  }

  app.all(path, () => {
    throw new Problem('methodNotAllowed', { allow });
  });
}

app.notFound((c) => refuse(c.get('exchange'), new Problem('notFound')));
app.onError((error, c) => refuse(c.get('exchange'), error));

/** The one error edge. */
function refuse(exchange: Exchange, error: unknown): Response {
  exchange.failure = problemOf(error, exchange.traffic);
  if (exchange.failure.problem === 'internal') exchange.surprise = surpriseOf(error);
  return problemResponse(exchange.failure, exchange.headers);
}

function withHeaders(response: Response, { headers }: Exchange): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
