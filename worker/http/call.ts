import type { EndpointName, Input, Output } from '../contract/endpoints.ts';
import type { Database } from '../db.ts';
import type { Env } from '../env.ts';
import type { Exchange } from './exchange.ts';
import type { Settings } from '../settings.ts';
import type { Caller } from '../auth/caller.ts';
import type { BotCall } from '../auth/bot-call.ts';

/** Everything a handler may use; what its access does not bring is absent by type. */
export type Call<Name extends EndpointName = EndpointName> = {
  input: Input<Name>;
  request: Request;
  exchange: Exchange;
  /** The address that limits count: an IPv4, or the /64 of an IPv6. */
  address: string;
  /** Unix ms: one instant for the whole call. */
  now: number;
  env: Env;
  settings: Settings;
  db: Database;
  /** Set for calls of users. */
  caller: Caller;
  /** Set for calls of the bot. */
  botCall: BotCall;
  /** The body as it was sent, for calls that are signed. */
  rawBody: string;
  /** Work that goes on after the answer. */
  later: (work: Promise<unknown>) => void;
};

export type Handler<Name extends EndpointName> = (call: Call<Name>) => Promise<Output<Name> | Response>;
