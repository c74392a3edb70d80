import { untilNextBudget } from '../../sign-in/code-budget.ts';
import { newCode } from '../../sign-in/one-time-code.ts';
import { issueCode, withdrawCode } from '../../sign-in/issue-code.ts';
import { brand } from '../../contract/brand.ts';
import type { Handler } from '../../http/handler.ts';
import { sendCode } from '../../messaging/whatsapp.ts';
import { RequestError, rateLimited } from '../../lib/request-error.ts';

export const requestOtp: Handler<'requestOtp'> = async (call) => {
  const { settings, now, input } = call;
  const { phone } = input;
  const code = newCode();
  const issued = await issueCode(call, phone, code);
  if (issued.limitedUntil) throw rateLimited(issued.limitedUntil, now);
  if (issued.budgetSpent) throw new RequestError('unavailable', { retryAfter: untilNextBudget(now) });
  if (!issued.whatsappId) {
    const message = `We haven't seen this number on ${brand.messagingApp} yet. Please message ${brand.companion} first.`;
    return { success: false, requiresInitialContact: true, message };
  }
  const outcome = await sendCode(settings, issued.whatsappId, code);
  if (outcome === 'taken') return { success: true, requiresInitialContact: false };
  if (outcome === 'unknown') throw new RequestError('unavailable', { retryAfter: issued.nextAfterSeconds });
  await withdrawCode(call, phone, issued.id);
  throw new RequestError('unavailable', { retryAfter: 1 });
};
