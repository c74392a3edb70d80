import { readBotCall } from '../bot/signed-call.ts';
import { endpoints, type Endpoint, type EndpointName } from '../contract/endpoints.ts';
import type { ErrorName } from '../contract/errors.ts';
import { RequestError } from '../lib/request-error.ts';
import { bearerToken, sessionFromQuery, verifyToken } from '../sign-in/session-token.ts';
import { UserSession, type SessionRef } from '../identity/user-session.ts';
import type {
  BotHandler,
  PublicHandler,
  SupportHandler,
  UserHandler,
  WebhookHandler,
  BaseScope,
  IncomingRequest,
  NameOf,
} from './handlers.ts';
import {
  countFailure,
  isWithinAddress,
  limitByNumber,
  refuseLargeBody,
  withinUserLimit,
} from './limit-calls.ts';
import { limitedSessionMacs } from '../identity/bindings.ts';
import { parseRequest, readBody, readBytes } from './parse-request.ts';

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
      const session = await countingRefusals(incoming, () => sessionOf(endpoints[name], incoming));
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
      const { body, botCall } = await countingRefusals(incoming, () =>
        readBotCall(incoming, () => readBody(name, incoming)),
      );
      return handler({
        ...incoming,
        ...(await parseRequest(name, incoming, body)),
        botCall,
      });
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
      const scope = { ...incoming, readBody: () => readBody(name, incoming) };
      return countingRefusals(incoming, () => handler(scope));
    },
  };
}

export function supportRoute<Name extends NameOf<'support'>>(
  name: Name,
  handler: SupportHandler<Name>,
): Route<Name> {
  return {
    name,
    run: async (incoming) => {
      const { userId } = await countingRefusals(incoming, () => supportedBy(incoming));
      const body = await readBody(name, incoming);
      return handler({
        ...incoming,
        ...(await parseRequest(name, incoming, body)),
        userId,
      });
    },
  };
}

async function supportedBy({ request, settings }: BaseScope): Promise<SessionRef> {
  const token = bearerToken(request);
  const ref = await verifyToken(settings.SESSION_KEYS, ['support+jwt'], token);
  if (!ref) throw new RequestError('unauthenticated');
  return ref;
}

async function sessionOf(endpoint: Endpoint, scope: BaseScope): Promise<UserSession> {
  const { request, settings } = scope;
  const ref = endpoint.tokenInQuery
    ? await sessionFromQuery(settings.SESSION_KEYS, request)
    : await verifyToken(settings.SESSION_KEYS, ['session+jwt'], bearerToken(request));
  if (!ref) throw new RequestError('unauthenticated');
  if (!endpoint.needsSignIn) return new UserSession(ref, scope, endpoint);
  const limitedMacs = await limitedSessionMacs(settings, ref.sessionId);
  return new UserSession(ref, scope, { ...endpoint, limitedMacs });
}

const refusals = new Set<ErrorName>([
  'invalidBotSignature',
  'invalidStripeSignature',
  'invalidToken',
  'unauthenticated',
]);

/** A wrong signature or token counts for the address. */
async function countingRefusals<Result>(
  scope: BaseScope,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isRefusal = error instanceof RequestError && refusals.has(error.errorName);
    throw isRefusal ? countFailure(scope, error) : error;
  }
}

const namesNumber = ({ input }: Endpoint) => input !== undefined && 'phone' in input.entries;

function phoneIn({ input }: { input?: unknown }): string | undefined {
  return (input as { phone?: string } | undefined)?.phone;
}
