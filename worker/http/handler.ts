import type { Endpoints, EndpointName, Output } from '../contract/endpoints.ts';
import type { Authorized } from '../users/user-session.ts';
import type { BotContext, PublicContext, WebhookContext, UserContext } from './request-context.ts';

type Result<Name extends EndpointName> = Output<Name> | Response;

export type PublicHandler<Name extends EndpointName> = (context: PublicContext<Name>) => Promise<Result<Name>>;
/** `session.run` makes the result: a response to a session that was not checked does not compile. */
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

/** The handler of an endpoint; its context depends on who may call it. */
export type Handler<Name extends EndpointName> = Handlers<Name>[Endpoints[Name]['access']];
