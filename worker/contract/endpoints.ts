import * as v from 'valibot';
import { audioTypes, largestRecordingBytes, longestTypingSeconds } from './chat-limits.ts';
import {
  ChatMessage,
  ChatPage,
  ChatPageQuery,
  Consent,
  ConsentVersion,
  NewMessage,
  NewRecording,
  PartialReply,
  ReplyId,
  Transcript,
  newReplyEntries,
} from './chat-schemas.ts';
import type { ErrorName } from './errors.ts';
import { checkoutSessionIn, jwtIn, trialTokenIn } from './pasted-tokens.ts';
import { PushEndpoint, PushSubscription } from './push.ts';
import {
  botRoutes,
  pageRoutes,
  serviceRoutes,
  supportRoutes,
  type RouteAddress,
} from './routes.ts';
import {
  AccountStatus,
  BusinessUserId,
  CancelReason,
  Challenge,
  Challenges,
  Code,
  Kind,
  PageLanguage,
  PaidTier,
  Phone,
  Platform,
  Profile,
  Subscription,
  Tier,
  Timestamp,
  Usage,
} from './schemas.ts';

import {
  Contract,
  KeptStatement,
  Objection,
  OwnStatement,
  PublicStatement,
  ReceiptKey,
  Statement,
  ReceiptMail,
} from './withdrawal-schemas.ts';

type Shape =
  | v.ObjectSchema<v.ObjectEntries, undefined>
  | v.StrictObjectSchema<v.ObjectEntries, undefined>;

type Definition = RouteAddress & {
  summary: string;
  input?: Shape;
  recording?: true;
  query?: Shape;
  params?: Shape;
  /** The largest body in bytes; `defaultBodyLimit` without it. */
  bodyLimit?: number;
  bodyLimitWithVoice?: number;
  inputOptional?: true;
  output?: v.GenericSchema;
  mediaType?: string | readonly string[];
  /** Opening it counts, so that `HEAD` is refused. */
  noHead?: true;
  whilePending?: true;
  /** Closed to the session of a trial link. */
  needsSignIn?: true;
  /** EventSource sends no headers. */
  tokenInQuery?: true;
  /** A tag in the log would tell of a crisis. */
  untagged?: true;
  fails?: readonly ErrorName[];
};

export const defaultBodyLimit = 16 * 1024;

const Token = v.pipe(
  v.string('token is missing'),
  v.minLength(1, 'token is missing'),
  v.maxLength(4096, 'token is too long'),
);

function wholeNumber(name: string, least: number, most: number) {
  const rule = `${name} must be a whole number from ${least} to ${most}`;
  return v.pipe(v.number(rule), v.integer(rule), v.minValue(least, rule), v.maxValue(most, rule));
}

const person = {
  phone: v.optional(Phone),
  businessUserId: v.optional(BusinessUserId),
};

const LinkCode = v.pipe(
  v.string('linkCode must be a text'),
  v.maxLength(64, 'linkCode is too long'),
);

/** JSON may escape every character in six bytes. */
const largestReply = 64 * 1024;
const largestMessage = 32 * 1024;
/** Some writers of JSON escape the slashes of base64, too. */
const largestReplyWithVoice = Math.floor(2.6 * 1024 * 1024);

const done = v.object({ success: v.literal(true) });
const YearTotal = v.object({ year: v.number(), total: v.number() });

export const endpoints = {
  supportErase: {
    ...supportRoutes.supportErase,
    summary: 'Delete the account that the token of the support command names',
    input: v.object({ onlyContested: v.optional(v.boolean(), false) }),
    inputOptional: true,
    output: done,
    fails: ['notFound', 'conflict'],
  },
  supportExport: {
    ...supportRoutes.supportExport,
    summary: 'Export the account that the token of the support command names',
    noHead: true,
    fails: ['notFound'],
  },
  supportStream: {
    ...supportRoutes.supportStream,
    summary: 'A stream without an account, for whoever looks whether a proxy holds streams back',
    noHead: true,
    mediaType: 'text/event-stream',
  },
  supportMove: {
    ...supportRoutes.supportMove,
    summary: 'Move the account that the token of the support command names to another number',
    input: v.object({ phone: Phone }),
    output: done,
    fails: ['notFound', 'conflict'],
  },
  requestOtp: {
    ...pageRoutes.requestOtp,
    summary: 'Send a one-time code to a number that has written to the assistant',
    input: v.object({ phone: Phone }),
    output: v.object({
      success: v.boolean(),
      message: v.optional(v.string()),
      requiresInitialContact: v.boolean(),
      challenge: v.optional(Challenge),
      linkCode: v.optional(v.string()),
    }),
    fails: ['codesUnavailable'],
  },
  codeState: {
    ...pageRoutes.codeState,
    summary: 'Whether WhatsApp could deliver the code of a challenge',
    input: v.object({ phone: Phone, challenge: Challenge }),
    output: v.object({
      success: v.literal(true),
      state: v.picklist(['sent', 'undelivered', 'expired']),
    }),
  },
  contactState: {
    ...pageRoutes.contactState,
    summary:
      'Whether the number for which a link code was shown has got its code, since it has written or was claimed',
    input: v.object({ phone: Phone, linkCode: LinkCode }),
    output: v.object({
      success: v.literal(true),
      state: v.picklist(['waiting', 'code_sent', 'expired']),
    }),
  },
  verifyOtp: {
    ...pageRoutes.verifyOtp,
    summary: 'Exchange a one-time code for a session',
    input: v.object({
      phone: Phone,
      otp: Code,
      challenge: v.optional(Challenges),
    }),
    output: v.object({
      success: v.literal(true),
      token: v.string(),
      status: AccountStatus,
    }),
    fails: ['invalidCode', 'codeSpent'],
  },
  verifyExternalToken: {
    ...pageRoutes.verifyExternalToken,
    summary: 'Exchange a token of the external issuer for a session',
    input: v.object({ token: v.pipe(Token, v.transform(jwtIn)) }),
    output: v.object({
      success: v.literal(true),
      token: v.string(),
      user: Profile,
      status: AccountStatus,
    }),
    fails: ['invalidToken', 'notFound'],
  },
  verifyTrialToken: {
    ...pageRoutes.verifyTrialToken,
    summary: 'Exchange the token of a trial link for a session and the trial',
    input: v.object({ trialToken: v.pipe(Token, v.transform(trialTokenIn)) }),
    output: v.object({ success: v.literal(true), token: v.string() }),
    fails: ['invalidToken', 'trialRunning', 'trialSpent'],
  },
  logout: {
    ...pageRoutes.logout,
    summary: 'End this session, or every session of the user',
    input: v.object({
      everywhere: v.optional(v.boolean('everywhere must be true or false'), false),
    }),
    inputOptional: true,
    output: done,
    whilePending: true,
    fails: ['signInNeeded'],
  },
  getMe: {
    ...pageRoutes.getMe,
    summary: 'The profile of the signed-in user',
    output: v.object({ success: v.literal(true), profile: Profile }),
    whilePending: true,
  },
  deleteMe: {
    ...pageRoutes.deleteMe,
    summary: 'Delete the account and everything known about the user',
    needsSignIn: true,
    output: done,
    whilePending: true,
    fails: ['conflict'],
  },
  getPlatform: {
    ...pageRoutes.getPlatform,
    summary: 'Where the user receives messages',
    output: v.object({ success: v.literal(true), platform: Platform }),
  },
  putPlatform: {
    ...pageRoutes.putPlatform,
    summary: 'Choose where to receive messages',
    input: v.object({ platform: Platform }),
    output: v.object({ success: v.literal(true), platform: Platform }),
  },
  exportMe: {
    ...pageRoutes.exportMe,
    summary: 'Everything kept about the user, as a JSON attachment',
    noHead: true,
    needsSignIn: true,
    whilePending: true,
    fails: ['rateLimited'],
  },
  beginPhoneChange: {
    ...pageRoutes.beginPhoneChange,
    summary:
      'Send a code to the number to which the account shall move; needs a sign-in of the last ten minutes',
    needsSignIn: true,
    input: v.object({ phone: Phone }),
    output: v.object({ success: v.literal(true), challenge: Challenge }),
  },
  verifyPhoneChange: {
    ...pageRoutes.verifyPhoneChange,
    summary: 'Move the account to the number to which the code was sent; other sessions end',
    needsSignIn: true,
    input: v.object({
      phone: Phone,
      otp: Code,
      challenge: Challenge,
    }),
    output: v.object({ success: v.literal(true), profile: Profile }),
    fails: ['invalidCode', 'codeSpent', 'conflict'],
  },
  getSessions: {
    ...pageRoutes.getSessions,
    summary: 'Where the user is signed in, newest first',
    needsSignIn: true,
    output: v.object({
      success: v.literal(true),
      sessions: v.array(
        v.object({
          id: v.string(),
          createdAt: Timestamp,
          lastSeenAt: Timestamp,
          /** Such as "Safari on iPhone", or null. */
          device: v.nullable(v.string()),
          current: v.boolean(),
        }),
      ),
    }),
  },
  endSession: {
    ...pageRoutes.endSession,
    summary: 'End one session of the user and its streams',
    needsSignIn: true,
    params: v.object({ id: v.string() }),
    output: done,
    fails: ['notFound'],
  },
  getPush: {
    ...pageRoutes.getPush,
    summary:
      'The public key with which a browser subscribes to notices of replies; 404 if there are none',
    needsSignIn: true,
    output: v.object({ success: v.literal(true), publicKey: v.string() }),
    fails: ['notFound'],
  },
  putPush: {
    ...pageRoutes.putPush,
    summary:
      'Notify a browser of replies, in the language of the call, as long as the session lasts',
    needsSignIn: true,
    input: PushSubscription,
    output: done,
    fails: ['notFound'],
  },
  deletePush: {
    ...pageRoutes.deletePush,
    summary: 'Notify a browser no longer',
    needsSignIn: true,
    input: PushEndpoint,
    output: done,
    fails: ['notFound'],
  },
  createSubscriptionUpdateSession: {
    ...pageRoutes.createSubscriptionUpdateSession,
    summary:
      'The address of the page on which the user buys or changes a plan, or pays a due invoice',
    input: v.object({
      tier: v.optional(PaidTier),
      startNow: v.optional(v.boolean('startNow must be true or false'), false),
    }),
    inputOptional: true,
    output: v.object({ success: v.literal(true), portalUrl: v.string() }),
    fails: ['conflict', 'signInNeeded', 'paymentRefused'],
  },
  createPortalSession: {
    ...pageRoutes.createPortalSession,
    summary: 'The billing portal of the user',
    needsSignIn: true,
    output: v.object({ success: v.literal(true), portalUrl: v.string() }),
    fails: ['noBillingAccount', 'paymentRefused'],
  },
  getSubscription: {
    ...pageRoutes.getSubscription,
    summary: 'What the user pays for, or will after the trial; null if nothing',
    output: v.object({
      success: v.literal(true),
      subscription: v.nullable(Subscription),
      withdrawal: v.optional(KeptStatement),
    }),
  },
  cancelPlan: {
    ...pageRoutes.cancelPlan,
    summary: 'End the subscription with its paid week',
    needsSignIn: true,
    output: v.object({ success: v.literal(true), cancelAtDate: Timestamp }),
    fails: ['conflict', 'paymentRefused'],
  },
  resumePlan: {
    ...pageRoutes.resumePlan,
    summary: 'Take the cancellation back',
    needsSignIn: true,
    output: done,
    fails: ['conflict', 'paymentRefused'],
  },
  giveCancelReason: {
    ...pageRoutes.giveCancelReason,
    summary: 'Say why one has cancelled; counted for the day, without the person',
    input: v.object({ reason: CancelReason }),
    output: done,
    fails: ['conflict'],
  },
  verifyCheckoutSession: {
    ...pageRoutes.verifyCheckoutSession,
    summary: 'Bring the plan up to date on the return from a checkout',
    input: v.object({
      sessionId: v.pipe(
        v.string('sessionId is missing'),
        v.minLength(1, 'sessionId is missing'),
        v.transform(checkoutSessionIn),
      ),
    }),
    output: v.object({
      success: v.boolean(),
      tierUpdated: v.boolean(),
      newTier: Tier,
      planRefused: v.exactOptional(v.literal(true)),
    }),
    fails: ['notFound', 'paymentRefused'],
  },
  getWithdrawal: {
    ...pageRoutes.getWithdrawal,
    summary: 'The contract that can be withdrawn, with what would go back, and the last statement',
    needsSignIn: true,
    output: v.object({
      success: v.literal(true),
      contract: v.nullable(Contract),
      statement: v.nullable(KeptStatement),
      receipt: v.optional(v.string()),
    }),
    fails: ['notFound'],
  },
  objectToWithdrawal: {
    ...pageRoutes.objectToWithdrawal,
    summary: 'A statement that was made for this number without signing in was not its owner’s',
    needsSignIn: true,
    input: Objection,
    output: v.object({ success: v.literal(true) }),
    fails: ['notFound'],
  },
  withdraw: {
    ...pageRoutes.withdraw,
    summary: 'Withdraw from the contract: it ends, and the money goes back; may be repeated',
    needsSignIn: true,
    input: OwnStatement,
    inputOptional: true,
    output: v.object({
      success: v.literal(true),
      statement: Statement,
      receipt: v.string(),
      mail: v.nullable(ReceiptMail),
    }),
    fails: ['notFound', 'conflict'],
  },
  getWithdrawalForm: {
    ...pageRoutes.getWithdrawalForm,
    summary:
      'Whether the receipt of a statement also goes by e-mail, so that a form asks for an address',
    output: v.object({ success: v.literal(true), email: v.boolean() }),
    fails: ['notFound'],
  },
  stateWithdrawal: {
    ...pageRoutes.stateWithdrawal,
    summary:
      'State a withdrawal without an account; always accepted, and says nothing about accounts',
    input: PublicStatement,
    output: v.object({
      success: v.literal(true),
      statement: Statement,
      receipt: v.string(),
      mail: v.nullable(ReceiptMail),
    }),
    fails: ['notFound'],
  },
  getWithdrawalReceipt: {
    ...pageRoutes.getWithdrawalReceipt,
    summary: 'The receipt of a statement as a file, for 30 days',
    params: v.object({ id: v.string() }),
    query: ReceiptKey,
    mediaType: 'text/plain',
    fails: ['notFound'],
  },
  streamTicket: {
    ...pageRoutes.streamTicket,
    summary: 'A ticket that opens the usage stream within a minute',
    output: v.object({
      success: v.literal(true),
      ticket: v.string(),
      expiresIn: v.literal(60),
    }),
  },
  usageStream: {
    ...pageRoutes.usageStream,
    summary: 'The live usage count as server-sent events',
    noHead: true,
    tokenInQuery: true,
    mediaType: 'text/event-stream',
    fails: ['invalidToken'],
  },
  getChat: {
    ...pageRoutes.getChat,
    summary: 'A page of the conversation',
    needsSignIn: true,
    query: ChatPageQuery,
    output: ChatPage,
    fails: ['invalidField'],
  },
  clearChat: {
    ...pageRoutes.clearChat,
    summary: 'Clear the conversation; consent stays',
    whilePending: true,
    needsSignIn: true,
    output: done,
  },
  sendMessage: {
    ...pageRoutes.sendMessage,
    summary: 'Send a message; the same id and text again return the same message',
    needsSignIn: true,
    input: NewMessage,
    bodyLimit: largestMessage,
    output: v.object({ success: v.literal(true), message: ChatMessage }),
    fails: ['consentNeeded', 'allowanceSpent', 'messageIdReused'],
  },
  sendVoice: {
    ...pageRoutes.sendVoice,
    summary: 'Send a recording; the same id and bytes again return the same message',
    needsSignIn: true,
    query: NewRecording,
    recording: true,
    bodyLimit: largestRecordingBytes,
    output: v.object({ success: v.literal(true), message: ChatMessage }),
    fails: ['consentNeeded', 'voiceNotInPlan', 'allowanceSpent', 'messageIdReused'],
  },
  getVoice: {
    ...pageRoutes.getVoice,
    summary: 'The recording of a message, as an attachment',
    noHead: true,
    needsSignIn: true,
    params: v.object({ id: v.string() }),
    mediaType: audioTypes,
    fails: ['notFound'],
  },
  chatStream: {
    ...pageRoutes.chatStream,
    summary:
      'Changes of the conversation as server-sent events, from `after` or `Last-Event-ID` on',
    noHead: true,
    needsSignIn: true,
    tokenInQuery: true,
    mediaType: 'text/event-stream',
    fails: ['invalidToken'],
  },
  putChatConsent: {
    ...pageRoutes.putChatConsent,
    summary: 'Accept a version of the notice that stands before the conversation',
    needsSignIn: true,
    input: v.object({ version: ConsentVersion }),
    output: v.object({ success: v.literal(true), consent: Consent }),
  },
  deleteChatConsent: {
    ...pageRoutes.deleteChatConsent,
    summary: 'Withdraw the consent and clear the conversation',
    whilePending: true,
    needsSignIn: true,
    output: v.object({ success: v.literal(true), consent: v.null() }),
  },
  botMessages: {
    ...botRoutes.botMessages,
    untagged: true,
    summary: "Write a reply into a user's conversation on the web",
    input: v.strictObject({ ...person, ...newReplyEntries }),
    bodyLimit: largestReply,
    bodyLimitWithVoice: largestReplyWithVoice,
    output: v.object({
      success: v.literal(true),
      seq: v.number(),
      voice: v.boolean(),
    }),
    fails: ['notFound', 'conflict', 'messageIdReused'],
  },
  botTyping: {
    ...botRoutes.botTyping,
    untagged: true,
    summary:
      'Show, for some seconds, that a reply is being written, and the text as far as it is; 0 ends it',
    input: v.strictObject({
      ...person,
      seconds: v.optional(wholeNumber('seconds', 0, longestTypingSeconds), 20),
      text: v.optional(PartialReply),
    }),
    bodyLimit: largestReply,
    output: done,
    fails: ['notFound', 'conflict'],
  },
  botVoice: {
    ...botRoutes.botVoice,
    untagged: true,
    summary: 'The recording of a message of the user',
    input: v.strictObject({ ...person, id: ReplyId }),
    mediaType: audioTypes,
    fails: ['notFound', 'conflict'],
  },
  botTranscripts: {
    ...botRoutes.botTranscripts,
    untagged: true,
    summary: 'Show what was said in a recording of the user; a later call replaces it',
    input: v.strictObject({
      ...person,
      id: ReplyId,
      text: Transcript,
    }),
    bodyLimit: largestReply,
    output: done,
    fails: ['notFound', 'conflict'],
  },
  botContacts: {
    ...botRoutes.botContacts,
    summary: 'A number has written to the assistant',
    input: v.strictObject({
      ...person,
      whatsappId: v.optional(
        v.pipe(v.string(), v.regex(/^\d{5,20}$/, 'whatsappId must be 5 to 20 digits')),
      ),
      linkCode: v.optional(LinkCode),
      code: v.optional(Code),
    }),
    output: v.object({ success: v.literal(true), known: v.literal(true) }),
    fails: ['notFound', 'conflict', 'rateLimited'],
  },
  botUsage: {
    ...botRoutes.botUsage,
    summary: 'Count messages, if the allowance lets them pass',
    input: v.strictObject({
      ...person,
      count: v.optional(wholeNumber('count', 1, 100), 1),
      kind: v.optional(Kind, 'text'),
    }),
    output: Usage,
    fails: ['conflict'],
  },
  botEntitlements: {
    ...botRoutes.botEntitlements,
    summary: 'The allowance of a number, without counting',
    input: v.strictObject({ ...person }),
    output: Usage,
    fails: ['conflict'],
  },
  botApprovals: {
    ...botRoutes.botApprovals,
    summary: 'Approve a user, or set back to pending',
    input: v.strictObject({ ...person, status: AccountStatus }),
    output: v.object({ success: v.literal(true), status: AccountStatus }),
    fails: ['notFound', 'conflict'],
  },
  botTrials: {
    ...botRoutes.botTrials,
    summary: 'Issue a trial link for a number, usable once',
    input: v.strictObject({
      ...person,
      tier: v.optional(PaidTier, 'premium'),
      days: v.optional(wholeNumber('days', 1, 30), 7),
      language: v.optional(PageLanguage, 'en'),
    }),
    output: v.object({
      success: v.literal(true),
      url: v.string(),
      expiresAt: Timestamp,
    }),
    fails: ['notFound', 'trialSpent', 'conflict'],
  },
  botReferrals: {
    ...botRoutes.botReferrals,
    untagged: true,
    summary: 'Count one referral to a crisis line outside the conversation on the web',
    input: v.strictObject({ ...person }),
    output: done,
    fails: ['notFound', 'conflict'],
  },
  stripeWebhook: {
    ...serviceRoutes.stripeWebhook,
    summary: "Take one of Stripe's signed events",
    bodyLimit: 512 * 1024,
    output: v.object({ received: v.literal(true) }),
  },
  verifyWhatsappWebhook: {
    ...serviceRoutes.verifyWhatsappWebhook,
    summary: 'Show WhatsApp that this address is ours',
    query: v.object({
      'hub.mode': v.literal('subscribe', 'hub.mode must be subscribe'),
      'hub.verify_token': v.string('hub.verify_token is missing'),
      'hub.challenge': v.pipe(
        v.string('hub.challenge is missing'),
        v.regex(/^[\w-]{1,256}$/, 'hub.challenge is malformed'),
      ),
    }),
    mediaType: 'text/plain',
    fails: ['invalidToken', 'notFound'],
  },
  whatsappWebhook: {
    ...serviceRoutes.whatsappWebhook,
    summary: 'Take what WhatsApp reports about the codes that were sent',
    bodyLimit: 3 * 1024 * 1024,
    output: v.object({ received: v.literal(true) }),
    fails: ['invalidBody', 'notFound'],
  },
  getCountry: {
    ...pageRoutes.getCountry,
    summary: 'The country of the connection, for the crisis lines; null when it is unknown',
    output: v.object({
      success: v.literal(true),
      country: v.nullable(v.string()),
    }),
  },
  getSafety: {
    ...pageRoutes.getSafety,
    summary:
      'How many referrals to crisis lines were counted in the last full year and in the present one',
    output: v.object({
      success: v.literal(true),
      referrals: v.object({ lastYear: YearTotal, thisYear: YearTotal }),
    }),
  },
  openapi: {
    ...serviceRoutes.openapi,
    summary: 'This description',
  },
  health: {
    ...serviceRoutes.health,
    summary: 'Whether the API and its database respond; 503 when degraded',
    output: v.object({
      status: v.picklist(['ok', 'degraded']),
      checks: v.object({ database: v.picklist(['ok', 'failed']) }),
    }),
  },
} as const satisfies Record<string, Definition>;

export type Endpoints = typeof endpoints;
export type EndpointName = keyof Endpoints;
export type Endpoint = Definition;

type Parsed<
  Name extends EndpointName,
  Part extends 'input' | 'query' | 'params',
> = Endpoints[Name] extends {
  [Key in Part]: infer S extends v.GenericSchema;
}
  ? v.InferOutput<S>
  : undefined;

export type Input<Name extends EndpointName> = Parsed<Name, 'input'>;
export type Query<Name extends EndpointName> = Parsed<Name, 'query'>;
export type Params<Name extends EndpointName> = Parsed<Name, 'params'>;
export type Output<Name extends EndpointName> = Endpoints[Name] extends {
  output: infer S extends v.GenericSchema;
}
  ? v.InferOutput<S>
  : never;
