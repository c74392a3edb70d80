import * as v from 'valibot';
import type { ProblemName } from './problems.ts';
import { AccountStatus, Code, Kind, PaidTier, Phone, Platform, Profile, Tier, Timestamp, Usage } from './shapes.ts';

export type Access = 'public' | 'user' | 'bot' | 'stripe';

type Shape = v.ObjectSchema<v.ObjectEntries, undefined> | v.StrictObjectSchema<v.ObjectEntries, undefined>;

type Definition = {
  access: Access;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: `/${string}`;
  summary: string;
  /** The JSON body; absent where the call takes none. */
  input?: Shape;
  /** An empty body reads as {}. */
  inputOptional?: true;
  /** What a success answers; absent where no shape describes it. */
  output?: v.GenericSchema;
  /** The media type of a success, where it is not JSON. */
  answers?: string;
  /** Open to users whose account still waits for approval. */
  whilePending?: true;
  /** The token stands in the query, because EventSource sends no headers. */
  tokenInQuery?: true;
  /** Failures beyond those that the access and the body bring by themselves. */
  fails?: readonly ProblemName[];
};

const Token = v.pipe(
  v.string('token is missing'),
  v.minLength(1, 'token is missing'),
  v.maxLength(4096, 'token is too long'),
);

function wholeNumber(name: string, least: number, most: number) {
  const rule = `${name} must be a whole number from ${least} to ${most}`;
  return v.pipe(v.number(rule), v.integer(rule), v.minValue(least, rule), v.maxValue(most, rule));
}

const done = v.object({ success: v.literal(true) });

export const endpoints = {
  requestOtp: {
    access: 'public',
    method: 'POST',
    path: '/api/auth/request-otp',
    summary: 'Send a one-time code to a number that has written to the assistant',
    input: v.object({ phone: Phone }),
    output: v.object({
      success: v.boolean(),
      message: v.optional(v.string()),
      requiresInitialContact: v.boolean(),
    }),
    fails: ['rateLimited'],
  },
  verifyOtp: {
    access: 'public',
    method: 'POST',
    path: '/api/auth/verify-otp',
    summary: 'Exchange a one-time code for a session',
    input: v.object({ phone: Phone, otp: Code }),
    output: v.object({ success: v.literal(true), token: v.string(), status: AccountStatus }),
    fails: ['invalidCode', 'rateLimited'],
  },
  verifyExternalToken: {
    access: 'public',
    method: 'POST',
    path: '/api/auth/verify-external-token',
    summary: 'Exchange a token of the external issuer for a session',
    input: v.object({ token: Token }),
    output: v.object({ success: v.literal(true), token: v.string(), user: Profile, status: AccountStatus }),
    fails: ['invalidToken', 'rateLimited'],
  },
  verifyTrialToken: {
    access: 'public',
    method: 'POST',
    path: '/auth/verify-trial-token',
    summary: 'Exchange the token of a trial link for a session and the trial',
    input: v.object({ trialToken: Token }),
    output: v.object({ success: v.literal(true), token: v.string() }),
    fails: ['invalidToken', 'rateLimited', 'conflict'],
  },
  logout: {
    access: 'user',
    method: 'POST',
    path: '/api/auth/logout',
    summary: 'End this session, or every session of the user',
    input: v.object({ everywhere: v.optional(v.boolean('everywhere must be true or false'), false) }),
    inputOptional: true,
    output: done,
    whilePending: true,
  },
  getMe: {
    access: 'user',
    method: 'GET',
    path: '/api/user/me',
    summary: 'The profile of the signed-in user',
    output: v.object({ success: v.literal(true), profile: Profile }),
    whilePending: true,
  },
  deleteMe: {
    access: 'user',
    method: 'DELETE',
    path: '/api/user/me',
    summary: 'Delete the account and everything known about the user',
    output: done,
    whilePending: true,
    fails: ['conflict'],
  },
  getPlatform: {
    access: 'user',
    method: 'GET',
    path: '/api/user/platform',
    summary: 'Where the user receives messages',
    output: v.object({ success: v.literal(true), platform: Platform }),
  },
  putPlatform: {
    access: 'user',
    method: 'PUT',
    path: '/api/user/platform',
    summary: 'Choose where to receive messages',
    input: v.object({ platform: Platform }),
    output: v.object({ success: v.literal(true), platform: Platform }),
  },
  createSubscriptionUpdateSession: {
    access: 'user',
    method: 'POST',
    path: '/api/billing/create-subscription-update-session',
    summary: 'A page on which the user buys, changes or mends the subscription',
    input: v.object({ tier: v.optional(PaidTier) }),
    inputOptional: true,
    output: v.object({ success: v.literal(true), portalUrl: v.string() }),
    fails: ['conflict'],
  },
  createPortalSession: {
    access: 'user',
    method: 'POST',
    path: '/api/billing/create-portal-session',
    summary: 'The billing portal of the user',
    output: v.object({ success: v.literal(true), portalUrl: v.string() }),
    fails: ['conflict'],
  },
  verifyCheckoutSession: {
    access: 'user',
    method: 'POST',
    path: '/api/billing/verify-and-update-checkout-session',
    summary: 'Bring the plan up to date on the return from a checkout',
    input: v.object({ sessionId: v.pipe(v.string('sessionId is missing'), v.minLength(1, 'sessionId is missing')) }),
    output: v.object({ success: v.boolean(), tierUpdated: v.boolean(), newTier: Tier }),
    fails: ['notFound'],
  },
  streamTicket: {
    access: 'user',
    method: 'POST',
    path: '/api/user/stream-ticket',
    summary: 'A ticket that opens the usage stream within a minute',
    output: v.object({ success: v.literal(true), ticket: v.string(), expiresIn: v.literal(60) }),
  },
  usageStream: {
    access: 'user',
    method: 'GET',
    path: '/api/user/usage-stream',
    summary: 'The live usage count as server-sent events',
    tokenInQuery: true,
    answers: 'text/event-stream',
    fails: ['invalidToken'],
  },
  botContacts: {
    access: 'bot',
    method: 'POST',
    path: '/api/bot/contacts',
    summary: 'A number has written to the assistant',
    input: v.strictObject({
      phone: Phone,
      whatsappId: v.optional(v.pipe(v.string(), v.regex(/^\d{5,20}$/, 'whatsappId must be 5 to 20 digits'))),
    }),
    output: v.object({ success: v.literal(true), known: v.literal(true) }),
  },
  botUsage: {
    access: 'bot',
    method: 'POST',
    path: '/api/bot/usage',
    summary: 'Count messages, if the allowance lets them pass',
    input: v.strictObject({
      phone: Phone,
      count: v.optional(wholeNumber('count', 1, 100), 1),
      kind: v.optional(Kind, 'text'),
    }),
    output: Usage,
  },
  botEntitlements: {
    access: 'bot',
    method: 'POST',
    path: '/api/bot/entitlements',
    summary: 'The allowance of a number, without counting',
    input: v.strictObject({ phone: Phone }),
    output: Usage,
  },
  botApprovals: {
    access: 'bot',
    method: 'POST',
    path: '/api/bot/approvals',
    summary: 'Approve a user, or set back to pending',
    input: v.strictObject({ phone: Phone, status: AccountStatus }),
    output: v.object({ success: v.literal(true), status: AccountStatus }),
    fails: ['notFound'],
  },
  botTrials: {
    access: 'bot',
    method: 'POST',
    path: '/api/bot/trials',
    summary: 'Issue a trial link for a number, usable once',
    input: v.strictObject({
      phone: Phone,
      tier: v.optional(PaidTier, 'premium'),
      days: v.optional(wholeNumber('days', 1, 30), 7),
    }),
    output: v.object({ success: v.literal(true), url: v.string(), expiresAt: Timestamp }),
    fails: ['notFound', 'conflict'],
  },
  stripeWebhook: {
    access: 'stripe',
    method: 'POST',
    path: '/api/webhooks/stripe',
    summary: "Take one of Stripe's signed events",
    output: v.object({ received: v.literal(true) }),
  },
  openapi: {
    access: 'public',
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This description',
  },
  health: {
    access: 'public',
    method: 'GET',
    path: '/api/health',
    summary: 'Whether the API and its database answer; 503 when degraded',
    output: v.object({
      status: v.picklist(['ok', 'degraded']),
      checks: v.object({ database: v.picklist(['ok', 'failed']) }),
    }),
  },
} as const satisfies Record<string, Definition>;

export type Endpoints = typeof endpoints;
export type EndpointName = keyof Endpoints;
export type Endpoint = Definition;
export type Input<Name extends EndpointName> = Endpoints[Name] extends { input: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined;
export type Output<Name extends EndpointName> = Endpoints[Name] extends { output: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : never;
