import type { PhoneNumber } from '../identity/phone.ts';
import type { UserSession, Authorized } from '../identity/user-session.ts';
import type { BotCall } from '../bot/signed-call.ts';
import type {
  EndpointName,
  Endpoints,
  Input,
  Params,
  Query,
  Output,
} from '../contract/endpoints.ts';
import type { Access } from '../contract/routes.ts';
import type { Recording } from '../lib/audio.ts';
import type { WithEnv } from '../env.ts';
import type { RequestScope } from '../request-scope.ts';
import type { RequestLog } from './middleware.ts';

export type BaseScope = RequestScope & WithEnv;

export type IncomingRequest = BaseScope & {
  pathParams: Record<string, string>;
  requestLog: RequestLog;
};

export type NameOf<A extends Access> = {
  [Name in EndpointName]: Endpoints[Name]['access'] extends A ? Name : never;
}[EndpointName];

export type ParsedInput<Name extends EndpointName> =
  Input<Name> extends { phone: string }
    ? Omit<Input<Name>, 'phone'> & { phone: PhoneNumber; phoneAsSent: string }
    : 'phone' extends keyof Input<Name>
      ? Omit<Input<Name>, 'phone'> & {
          phone?: PhoneNumber;
          phoneAsSent?: string;
        }
      : Input<Name>;

export type Parsed<Name extends EndpointName> = {
  input: ParsedInput<Name>;
  query: Query<Name>;
  params: Params<Name>;
  recording: Endpoints[Name] extends { recording: true } ? Recording : undefined;
};

export type PublicScope<Name extends EndpointName = EndpointName> = BaseScope & Parsed<Name>;
export type UserScope<Name extends EndpointName = EndpointName> = BaseScope &
  Parsed<Name> & { session: UserSession };
export type BotScope<Name extends EndpointName = EndpointName> = BaseScope &
  Parsed<Name> & { botCall: BotCall };
export type SupportScope<Name extends EndpointName = EndpointName> = BaseScope &
  Parsed<Name> & { userId: string };
/** It reads the body once its headers may be right. */
export type WebhookScope = BaseScope & { readBody: () => Promise<string> };

type HandlerResult<Name extends EndpointName> = Output<Name> | Response;

export type PublicHandler<Name extends EndpointName> = (
  scope: PublicScope<Name>,
) => Promise<HandlerResult<Name>>;
export type UserHandler<Name extends EndpointName> = (
  scope: UserScope<Name>,
) => Promise<Authorized<HandlerResult<Name>>>;
export type BotHandler<Name extends EndpointName> = (
  scope: BotScope<Name>,
) => Promise<HandlerResult<Name>>;
export type WebhookHandler<Name extends EndpointName> = (
  scope: WebhookScope,
) => Promise<HandlerResult<Name>>;

export type SupportHandler<Name extends EndpointName> = (
  scope: SupportScope<Name>,
) => Promise<HandlerResult<Name>>;

type Handlers<Name extends EndpointName> = {
  public: PublicHandler<Name>;
  user: UserHandler<Name>;
  bot: BotHandler<Name>;
  stripe: WebhookHandler<Name>;
  support: SupportHandler<Name>;
  whatsapp: WebhookHandler<Name>;
};

export type Handler<Name extends EndpointName> = Handlers<Name>[Endpoints[Name]['access']];
