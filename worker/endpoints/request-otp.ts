import { canonicalPhone } from '../auth/canonical-phone.ts';
import { newCode } from '../auth/code.ts';
import { issueCode, withdrawCode } from '../auth/issue-code.ts';
import { brand } from '../contract/brand.ts';
import type { Handler } from '../http/call.ts';
import { sendCode } from '../messaging/whatsapp.ts';
import { Problem, rateLimited } from '../problem.ts';

export const requestOtp: Handler<'requestOtp'> = async (call) => {
  const { settings, now } = call;
  const phone = canonicalPhone(call.input.phone);
  const code = newCode();
  const issued = await issueCode(call, phone, code);
  if (issued.limitedUntil) throw rateLimited(issued.limitedUntil, now);
  if (!issued.whatsappId) {
    const message = `We haven't seen this number on ${brand.messagingApp} yet. Please message ${brand.companion} first.`;
    return { success: false, requiresInitialContact: true, message };
  }
  const outcome = await sendCode(settings, issued.whatsappId, code);
  if (outcome === 'taken') return { success: true, requiresInitialContact: false };
  if (outcome === 'unknown') throw new Problem('unavailable', { retryAfter: issued.nextAfterSeconds });
  await withdrawCode(call, phone, issued.id);
  throw new Problem('unavailable', { retryAfter: 1 });
};
