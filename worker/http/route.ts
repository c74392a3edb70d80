import { verifyBotCall } from '../bot/bot-call.ts';
import { endpoints, type Endpoint, type EndpointName } from '../contract/endpoints.ts';
import { RequestError } from '../lib/request-error.ts';
import { bearerToken, sessionFromQuery, verifyToken } from '../sign-in/session-token.ts';
import { UserSession } from '../accounts/user-session.ts';
import type {
  BotHandler,
  PublicHandler,
  SupportHandler,
  UserHandler,
  WebhookHandler,
  BaseContext,
  IncomingRequest,
  NameOf,
} from './request-context.ts';
import { limitByAddress, withinUserLimit } from './limit-calls.ts';
import { parseRequest, readText } from './parse-request.ts';

/** An endpoint with its handler: authorizes a request, validates what was sent, and returns the handler's result. */
export type Route<Name extends EndpointName = EndpointName> = {
  name: Name;
  run: (incoming: IncomingRequest) => Promise<unknown>;
};

export function publicRoute<Name extends NameOf<'public'>>(name: Name, handler: PublicHandler<Name>): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      await limitByAddress(incoming);
      return handler({ ...incoming, ...parseRequest(name, incoming, await readBody(name, incoming)) });
    },
  };
}

export function userRoute<Name extends NameOf<'user'>>(name: Name, handler: UserHandler<Name>): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      const session = await sessionOf(endpoints[name], incoming);
      return withinUserLimit(incoming, session, async () => {
        const { recording }: Endpoint = endpoints[name];
        const body = recording ? await incoming.request.arrayBuffer() : await readBody(name, incoming);
        const parsed = parseRequest(name, incoming, body);
        return (await handler({ ...incoming, ...parsed, session })).value;
      });
    },
  };
}

export function botRoute<Name extends NameOf<'bot'>>(name: Name, handler: BotHandler<Name>): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      const body = await readBody(name, incoming);
      const botCall = await verifyBotCall(incoming.settings, incoming.request, body);
      return handler({ ...incoming, ...parseRequest(name, incoming, body), botCall });
    },
  };
}

export function webhookRoute<Name extends NameOf<'stripe' | 'whatsapp'>>(
  name: Name,
  handler: WebhookHandler<Name>,
): Route<Name> {
  return {
    name,
    run: async (incoming) => handler({ ...incoming, rawBody: await readBody(name, incoming) }),
  };
}

/** For the owner's support command, which signs a token for one account with `SESSION_KEYS`. */
export function supportRoute<Name extends NameOf<'support'>>(name: Name, handler: SupportHandler<Name>): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      const { request, settings } = incoming;
      const claims = await verifyToken(settings.SESSION_KEYS, ['support+jwt'], bearerToken(request));
      if (!claims) throw new RequestError('unauthenticated');
      const body = await readBody(name, incoming);
      return handler({ ...incoming, ...parseRequest(name, incoming, body), userId: claims.userId });
    },
  };
}

/** Verifies the token; `session.run` checks in the database that the session has not ended. */
async function sessionOf(endpoint: Endpoint, context: BaseContext): Promise<UserSession> {
  const { request, settings } = context;
  const claims = endpoint.tokenInQuery
    ? await sessionFromQuery(settings.SESSION_KEYS, request)
    : await verifyToken(settings.SESSION_KEYS, ['session+jwt'], bearerToken(request));
  if (!claims) throw new RequestError('unauthenticated');
  return new UserSession(claims, context, endpoint);
}

async function readBody(name: EndpointName, { request }: BaseContext): Promise<string> {
  const { method }: Endpoint = endpoints[name];
  return method === 'GET' ? '' : readText(request);
}
