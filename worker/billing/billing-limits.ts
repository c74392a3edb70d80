import { hourMs } from '../lib/time.ts';

/** All users share Stripe's rate limit. */
const limits = [{ most: 20, per: hourMs }];
export const billingPageSubject = (userId: string) => `billing-pages:${userId}`;

export const billingPages = (userId: string) => ({
  subject: [billingPageSubject(userId)],
  limits,
});

/** More than whoever thinks again and reloads needs. */
const callLimits = [{ most: 120, per: hourMs }];
export const billingCallSubject = (userId: string) => `billing-calls:${userId}`;

export const billingCalls = (userId: string) => ({
  subject: [billingCallSubject(userId)],
  limits: callLimits,
});

export const withdrawalSubject = (userId: string) => `withdrawals:${userId}`;

/** Counted alone: no other call uses up the right to withdraw. */
export const withdrawalCalls = (userId: string) => ({
  subject: [withdrawalSubject(userId)],
  limits: callLimits,
});
