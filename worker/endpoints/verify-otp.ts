import { canonicalPhone } from '../auth/canonical-phone.ts';
import { redeemCode } from '../auth/redeem-code.ts';
import { sessionToken } from '../auth/session.ts';
import type { Handler } from '../http/call.ts';
import { Problem, rateLimited } from '../problem.ts';

export const verifyOtp: Handler<'verifyOtp'> = async (call) => {
  const redeemed = await redeemCode(call, canonicalPhone(call.input.phone), call.input.otp);
  if (redeemed.limitedUntil) throw rateLimited(redeemed.limitedUntil, call.now);
  if (!redeemed.session) throw new Problem('invalidCode');
  const token = await sessionToken(call.settings, redeemed.session, call.now);
  return { success: true, token, status: redeemed.status };
};
