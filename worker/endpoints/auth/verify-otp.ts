import { redeemCode } from '../../sign-in/redeem-code.ts';
import { sessionToken } from '../../sign-in/session-token.ts';
import type { Handler } from '../../http/handler.ts';
import { RequestError, rateLimited } from '../../lib/request-error.ts';

export const verifyOtp: Handler<'verifyOtp'> = async (call) => {
  const { limitedUntil, opened } = await redeemCode(call, call.input.phone, call.input.otp);
  if (limitedUntil) throw rateLimited(limitedUntil, call.now);
  if (!opened) throw new RequestError('invalidCode');
  const token = await sessionToken(call.settings, opened.session, call.now);
  return { success: true, token, status: opened.status };
};
