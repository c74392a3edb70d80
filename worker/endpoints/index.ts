import type { EndpointName } from '../contract/endpoints.ts';
import type { Handler } from '../http/call.ts';
import { botApprovals } from './bot-approvals.ts';
import { botContacts } from './bot-contacts.ts';
import { botEntitlements } from './bot-entitlements.ts';
import { botTrials } from './bot-trials.ts';
import { botUsage } from './bot-usage.ts';
import { deleteMe } from './delete-me.ts';
import { getMe } from './get-me.ts';
import { getPlatform } from './get-platform.ts';
import { health } from './health.ts';
import { logout } from './logout.ts';
import { openapi } from './openapi.ts';
import { putPlatform } from './put-platform.ts';
import { requestOtp } from './request-otp.ts';
import { streamTicket } from './stream-ticket.ts';
import { usageStream } from './usage-stream.ts';
import { verifyExternalToken } from './verify-external-token.ts';
import { verifyOtp } from './verify-otp.ts';
import { verifyTrialToken } from './verify-trial-token.ts';

/** Who answers each call of the table. */
export const handlers = {
  botApprovals,
  botContacts,
  botEntitlements,
  botTrials,
  botUsage,
  deleteMe,
  getMe,
  getPlatform,
  health,
  logout,
  openapi,
  putPlatform,
  requestOtp,
  streamTicket,
  usageStream,
  verifyExternalToken,
  verifyOtp,
  verifyTrialToken,
} as { [Name in EndpointName]: Handler<Name> };
