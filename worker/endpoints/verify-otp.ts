import { canonicalPhone } from '../auth/canonical-phone.ts';
import { redeemCode } from '../auth/redeem-code.ts';
import { sessionToken } from '../auth/session.ts';
import type { Handler } from '../http/call.ts';
import { Problem, rateLimited } from '../problem.ts';

export const verifyOtp: Handler<'verifyOtp'> = async (call) => {
  const { limitedUntil, opened } = await redeemCode(call, canonicalPhone(call.input.phone), call.input.otp);
  if (limitedUntil) throw rateLimited(limitedUntil, call.now);
  if (!opened) throw new Problem('invalidCode');
  const token = await sessionToken(call.settings, opened.session, call.now);
  return { success: true, token, status: opened.status };
};
