export const apiErrors = {
  invalidBody: {
    status: 400,
    code: 'invalid_body',
    message: 'Invalid request body',
  },
  invalidField: { status: 400, code: 'invalid_field', message: 'Invalid value' },
  invalidStripeSignature: {
    status: 400,
    code: 'invalid_signature',
    message: 'Invalid signature',
  },
  unauthenticated: {
    status: 401,
    code: 'unauthenticated',
    message: 'Please log in to continue',
  },
  invalidCode: {
    status: 401,
    code: 'invalid_code',
    message: 'Invalid code. Please try again.',
  },
  codeSpent: {
    status: 401,
    code: 'code_spent',
    message: 'This code can no longer be used. Please ask for a new one.',
  },
  invalidToken: {
    status: 401,
    code: 'invalid_token',
    message: 'Invalid or expired token',
  },
  invalidBotSignature: {
    status: 401,
    code: 'invalid_signature',
    message: 'Invalid signature',
  },
  consentNeeded: {
    status: 403,
    code: 'consent_needed',
    message: 'Please accept the notice before you write.',
  },
  allowanceSpent: {
    status: 403,
    code: 'allowance_spent',
    message: "You have used this week's messages.",
  },
  voiceNotInPlan: {
    status: 403,
    code: 'voice_not_in_plan',
    message: 'Voice messages are part of the Basic plan and above.',
  },
  pendingApproval: {
    status: 403,
    code: 'pending_approval',
    message: 'Your account is awaiting approval.',
  },
  signInNeeded: {
    status: 403,
    code: 'sign_in_needed',
    message: 'Please sign in with a code to see this.',
  },
  notFound: { status: 404, code: 'not_found', message: 'Not found' },
  methodNotAllowed: {
    status: 405,
    code: 'method_not_allowed',
    message: 'Method not allowed',
  },
  idReused: {
    status: 409,
    code: 'id_reused',
    message: 'Event id already used with a different body or path',
  },
  messageIdReused: {
    status: 409,
    code: 'id_reused',
    message: 'Message id already used',
  },
  conflict: {
    status: 409,
    code: 'conflict',
    message: 'That is not possible right now.',
  },
  noBillingAccount: {
    status: 409,
    code: 'no_billing_account',
    message: 'No billing account yet. Choose a plan first.',
  },
  paymentRefused: {
    status: 409,
    code: 'payment_refused',
    message: 'The payment provider refuses this. Please write to our support.',
  },
  trialRunning: {
    status: 409,
    code: 'trial_running',
    message: 'This trial has started already. Please log in.',
  },
  trialSpent: {
    status: 409,
    code: 'trial_spent',
    message: 'This number has already had its trial.',
  },
  bodyTooLarge: {
    status: 413,
    code: 'body_too_large',
    message: 'Request body too large',
  },
  notJson: {
    status: 415,
    code: 'not_json',
    message: 'Content-Type must be application/json',
  },
  notAudio: {
    status: 415,
    code: 'not_audio',
    message: 'Content-Type must be audio/webm, audio/mp4 or audio/ogg',
  },
  rateLimited: {
    status: 429,
    code: 'rate_limited',
    message: 'Too many requests. Please try again later.',
  },
  internal: {
    status: 500,
    code: 'internal',
    message: 'Something went wrong on our side.',
  },
  codesUnavailable: {
    status: 503,
    code: 'codes_unavailable',
    message: 'Codes cannot be sent at the moment. Please write to our support.',
  },
  unavailable: {
    status: 503,
    code: 'unavailable',
    message: 'Service temporarily unavailable',
  },
} as const;

export type ErrorName = keyof typeof apiErrors;
export type ErrorCode = (typeof apiErrors)[ErrorName]['code'];

export type ErrorBody = {
  success: false;
  code: ErrorCode;
  message: string;
  issues?: { path: string; message: string }[];
  used?: number;
  limit?: number;
  resetsAt?: string;
  /** With `sign_in_needed`: no code helps. */
  newOwner?: true;
  /** With `invalid_signature`, if only the time is wrong. */
  serverTime?: string;
};
