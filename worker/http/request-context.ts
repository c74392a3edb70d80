import type { BotCall } from '../bot/bot-call.ts';
import type { Access, EndpointName, Endpoints, Input, Params, Query } from '../contract/endpoints.ts';
import type { Env } from '../env.ts';
import type { Database } from '../platform/database.ts';
import type { Settings } from '../settings.ts';
import type { PhoneNumber } from '../users/phone.ts';
import type { UserSession } from '../users/user-session.ts';
import type { RequestLog } from './request-log.ts';

/** What every handler may use. */
export type BaseContext = {
  request: Request;
  /** The address that limits count: an IPv4, or the /64 of an IPv6. */
  address: string;
  /** Unix ms: one instant for the whole request. */
  now: number;
  env: Env;
  settings: Settings;
  db: Database;
  /** Keeps the Worker running for work that goes on after the response. */
  waitUntil: (work: Promise<unknown>) => void;
};

/** A request before its authorization: what the route needs besides. */
export type IncomingRequest = BaseContext & { pathParams: Record<string, string>; requestLog: RequestLog };

/** The endpoints of one kind of caller. */
export type NameOf<A extends Access> = {
  [Name in EndpointName]: Endpoints[Name]['access'] extends A ? Name : never;
}[EndpointName];

/** A body after its validation: a number in it is canonical; WhatsApp knows the sender by the spelling that was sent. */
export type ParsedInput<Name extends EndpointName> =
  Input<Name> extends { phone: string }
    ? Omit<Input<Name>, 'phone'> & { phone: PhoneNumber; phoneAsSent: string }
    : Input<Name>;

/** What the caller sent, validated: the JSON body, the query string and the parts of the path. */
export type Parsed<Name extends EndpointName> = {
  input: ParsedInput<Name>;
  query: Query<Name>;
  params: Params<Name>;
};

export type PublicContext<Name extends EndpointName = EndpointName> = BaseContext & Parsed<Name>;
/** `session.run` yields the user, and the response must come from it. */
export type UserContext<Name extends EndpointName = EndpointName> = BaseContext &
  Parsed<Name> & { session: UserSession };
/** The signature is verified. */
export type BotContext<Name extends EndpointName = EndpointName> = BaseContext & Parsed<Name> & { botCall: BotCall };
/** The handler verifies the sender's signature over the body as it was sent. */
export type WebhookContext = BaseContext & { rawBody: string };

type Contexts<Name extends EndpointName> = {
  public: PublicContext<Name>;
  user: UserContext<Name>;
  bot: BotContext<Name>;
  stripe: WebhookContext;
  whatsapp: WebhookContext;
};

/** The context of an endpoint: it depends on who may call it. */
export type ContextOf<Name extends EndpointName> = Contexts<Name>[Endpoints[Name]['access']];
