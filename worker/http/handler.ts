import type { Endpoints, EndpointName, Output } from '../contract/endpoints.ts';
import type { Authorized } from '../accounts/user-session.ts';
import type { BotContext, PublicContext, WebhookContext, UserContext } from './request-context.ts';

type Result<Name extends EndpointName> = Output<Name> | Response;

export type PublicHandler<Name extends EndpointName> = (context: PublicContext<Name>) => Promise<Result<Name>>;
/** Only `session.run` creates this result, so a handler that skips the session check does not compile. */
export type UserHandler<Name extends EndpointName> = (context: UserContext<Name>) => Promise<Authorized<Result<Name>>>;
export type BotHandler<Name extends EndpointName> = (context: BotContext<Name>) => Promise<Result<Name>>;
export type WebhookHandler<Name extends EndpointName> = (context: WebhookContext) => Promise<Result<Name>>;

type Handlers<Name extends EndpointName> = {
  public: PublicHandler<Name>;
  user: UserHandler<Name>;
  bot: BotHandler<Name>;
  stripe: WebhookHandler<Name>;
  whatsapp: WebhookHandler<Name>;
};

/** The handler of an endpoint; its context depends on the endpoint's access. */
export type Handler<Name extends EndpointName> = Handlers<Name>[Endpoints[Name]['access']];
