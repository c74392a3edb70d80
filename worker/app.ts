import { Hono, type Context } from 'hono';
import { endpoints, type Endpoint, type EndpointName } from './contract/endpoints.ts';
import { openDatabase } from './db.ts';
import { handlers } from './endpoints/index.ts';
import type { Env } from './env.ts';
import { callerAddress } from './http/address.ts';
import { admit } from './http/admit.ts';
import { problemAnswer, problemOf, surpriseOf } from './http/failure.ts';
import { jsonAnswer, plainAnswer } from './http/respond.ts';
import type { Call, Handler } from './http/call.ts';
import { corsHeaders, preflightHeaders } from './http/cors.ts';
import { Exchange } from './http/exchange.ts';
import { Problem } from './problem.ts';
import { settingsOf, type Settings } from './settings.ts';

type C = Context<{ Bindings: Env }>;
type Answer = (c: C, exchange: Exchange, settings: Settings) => Response | Promise<Response>;

const byPath = Map.groupBy(Object.entries(endpoints) as [EndpointName, Endpoint][], ([, { path }]) => path);

/** One handler for a path: Hono then calls it without composing a chain. */
export const app = new Hono<{ Bindings: Env }>();

for (const [path, group] of byPath) app.all(path, exchanging(answerOn(path, group)));
app.notFound(
  exchanging(() => {
    throw new Problem('notFound');
  }),
);

/** Answers, refuses where that fails, and logs: the one error edge. */
function exchanging(answer: Answer): (c: C) => Promise<Response> {
  return async function exchange(c) {
    const exchange = new Exchange();
    const response = await settle(() => answer(c, exchange, settingsFor(c)), exchange);
    await exchange.log(c.req.method, response.status);
    return response;
  };
}

async function settle(answer: () => Response | Promise<Response>, exchange: Exchange): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    exchange.failure = problemOf(error, exchange.traffic);
    if (exchange.failure.problem === 'internal') exchange.surprise = surpriseOf(error);
    return problemAnswer(exchange.failure, exchange.headers);
  }
}

function settingsFor({ env }: C): Settings {
  const settings = settingsOf(env);
  if (!settings) throw new Problem('unavailable', { retryAfter: 60 });
  return settings;
}

/** All that may be asked of a path: its endpoints by method, and what browsers of other origins must know first. */
function answerOn(path: string, group: [EndpointName, Endpoint][]): Answer {
  const byMethod = new Map(group.map(([name, endpoint]) => [endpoint.method as string, name]));
  const allow = [...byMethod.keys()].join(', ');
  const withCredentials = group.some(([, { tokenInQuery }]) => tokenInQuery);

  return function answer(c, exchange, settings) {
    exchange.route = path;
    Object.assign(exchange.headers, corsHeaders(c.req.header('origin'), settings, withCredentials));
    const { method } = c.req;
    if (method === 'OPTIONS') {
      return plainAnswer(new Response(null, { status: 204 }), { ...exchange.headers, ...preflightHeaders(allow) });
    }
    const name = byMethod.get(method === 'HEAD' ? 'GET' : method);
    if (!name) throw new Problem('methodNotAllowed', { allow });
    return answerCall(name, c, exchange, settings);
  };
}

async function answerCall(name: EndpointName, c: C, exchange: Exchange, settings: Settings): Promise<Response> {
  const endpoint: Endpoint = endpoints[name];
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
  return answer instanceof Response ? plainAnswer(answer, exchange.headers) : jsonAnswer(answer, exchange.headers);
}
