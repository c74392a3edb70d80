import type { EndpointName } from '../contract/endpoints.ts';
import type { Handler } from '../http/call.ts';
import { botApprovals } from './bot-approvals.ts';
import { botContacts } from './bot-contacts.ts';
import { botEntitlements } from './bot-entitlements.ts';
import { botTrials } from './bot-trials.ts';
import { botUsage } from './bot-usage.ts';
import { createPortalSession } from './create-portal-session.ts';
import { createSubscriptionUpdateSession } from './create-subscription-update-session.ts';
import { deleteMe } from './delete-me.ts';
import { getMe } from './get-me.ts';
import { getPlatform } from './get-platform.ts';
import { health } from './health.ts';
import { logout } from './logout.ts';
import { openapi } from './openapi.ts';
import { putPlatform } from './put-platform.ts';
import { requestOtp } from './request-otp.ts';
import { streamTicket } from './stream-ticket.ts';
import { stripeWebhook } from './stripe-webhook.ts';
import { usageStream } from './usage-stream.ts';
import { verifyCheckoutSession } from './verify-checkout-session.ts';
import { verifyExternalToken } from './verify-external-token.ts';
import { verifyOtp } from './verify-otp.ts';
import { verifyTrialToken } from './verify-trial-token.ts';

/** Who answers each call of the table. */
export const handlers: { [Name in EndpointName]: Handler<Name> } = {
  botApprovals,
  botContacts,
  botEntitlements,
  botTrials,
  botUsage,
  createPortalSession,
  createSubscriptionUpdateSession,
  deleteMe,
  getMe,
  getPlatform,
  health,
  logout,
  openapi,
  putPlatform,
  requestOtp,
  streamTicket,
  stripeWebhook,
  usageStream,
  verifyCheckoutSession,
  verifyExternalToken,
  verifyOtp,
  verifyTrialToken,
};
