import * as v from 'valibot';
import { published } from './languages.ts';
import { paidPlanIds, planIds } from './plans.ts';

export const Phone = v.pipe(
  v.string('Phone number must be at least 10 digits'),
  v.minLength(10, 'Phone number must be at least 10 digits'),
  v.regex(/^\+[1-9]\d{1,14}$/, 'Please include country code (e.g., +1234567890)'),
);

/** WhatsApp's id instead of a number; compared as it is. */
export const BusinessUserId = v.pipe(
  v.string('businessUserId must be a text'),
  v.regex(
    /^[A-Z]{2}\.[A-Za-z0-9]{1,128}$/,
    'businessUserId must be two capital letters, a dot, and 1 to 128 letters or digits',
  ),
);

export const Code = v.pipe(
  v.string('OTP must be exactly 6 digits'),
  v.length(6, 'OTP must be exactly 6 digits'),
  v.regex(/^[0-9]+$/, 'OTP must contain only numbers'),
);

export const Challenge = v.pipe(
  v.string('challenge must be a text'),
  v.minLength(1, 'challenge is empty'),
  v.maxLength(200, 'challenge is too long'),
);

/** Newest first: any code that works may be typed. */
export const Challenges = v.union(
  [Challenge, v.pipe(v.array(Challenge), v.minLength(1), v.maxLength(3))],
  'challenge must be a text, or a list of up to three',
);

export const Tier = v.picklist(planIds, 'Choose one of the plans');
export const PaidTier = v.picklist(paidPlanIds, 'Choose basic, premium or platinum');
export const Platform = v.picklist(['whatsapp', 'web'], 'Choose whatsapp or web');
export const PageLanguage = v.picklist(published, `Choose ${published.join(', ')}`);
export const AccountStatus = v.picklist(['approved', 'pending'], 'Choose approved or pending');
export const Kind = v.picklist(['text', 'voice'], 'Choose text or voice');

const cancelReasons = [
  'price',
  'rarely_used',
  'not_helpful',
  'did_not_work',
  'elsewhere',
  'other',
] as const;
export const CancelReason = v.picklist(cancelReasons, `Choose one of ${cancelReasons.join(', ')}`);

const subscriptionStatuses = [
  'active',
  'trialing',
  'cancellation_scheduled',
  'downgrade_scheduled',
  'past_due',
  'unpaid',
] as const;
export const SubscriptionStatus = v.picklist(subscriptionStatuses);

export const Timestamp = v.pipe(v.string(), v.isoTimestamp());

/** `over` once payments are collected again, until a week is paid. */
export const CollectionPause = v.object({
  status: v.picklist(['paused', 'over']),
  /** Null for a pause until further notice, or one that is over. */
  resumesAtDate: v.nullable(Timestamp),
});
export type CollectionPause = v.InferOutput<typeof CollectionPause>;

export const Metadata = v.object({
  subscriptionTier: Tier,
  messagesUsedThisPeriod: v.number(),
  subscriptionStatus: SubscriptionStatus,
  renewalDate: v.nullable(Timestamp),
  cancelAtDate: v.nullable(Timestamp),
  scheduledDowngradeTierId: v.nullable(Tier),
  /** When a new week begins; of a paid plan, once it is paid. */
  resetsAt: Timestamp,
  /** Absent without a pause since the last paid week. */
  collectionPause: v.exactOptional(CollectionPause),
});

export const Subscription = v.object({
  /** `free` until the first payment succeeds. */
  tier: Tier,
  status: SubscriptionStatus,
  /** Null if the plan has begun. */
  startDate: v.nullable(Timestamp),
  renewalDate: v.nullable(Timestamp),
  cancelAtDate: v.nullable(Timestamp),
  collectionPause: v.exactOptional(CollectionPause),
});
export type Subscription = v.InferOutput<typeof Subscription>;

export const Profile = v.object({
  phoneNumber: Phone,
  status: AccountStatus,
  isTrial: v.boolean(),
  messagesUsedThisPeriod: v.number(),
  metadata: Metadata,
});

export const Usage = v.object({
  success: v.literal(true),
  allowed: v.boolean(),
  used: v.number(),
  limit: v.number(),
  remaining: v.number(),
  voice: v.boolean(),
  tier: Tier,
  resetsAt: Timestamp,
});

export type Phone = v.InferOutput<typeof Phone>;
export type Tier = v.InferOutput<typeof Tier>;
export type Platform = v.InferOutput<typeof Platform>;
export type AccountStatus = v.InferOutput<typeof AccountStatus>;
export type SubscriptionStatus = v.InferOutput<typeof SubscriptionStatus>;
export type Profile = v.InferOutput<typeof Profile>;
export type Usage = v.InferOutput<typeof Usage>;
