import * as v from 'valibot';
import { emailAddress } from '#contract/email-address';
import { isVisible } from '#contract/visible-text';
import { contactWords } from '#words/contact';
import { sendFailed } from '../../data/api-error.ts';
import { contactAddress } from '../../data/build-settings.ts';
import { fetchInTime } from '../../data/fetch-in-time.ts';
import * as timeLimits from '../../data/time-limits.ts';

export const ContactMessage = v.object({
  name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(2, contactWords.nameRule),
    v.check(isVisible, contactWords.nameRule),
  ),
  email: emailAddress(contactWords.emailRule),
  phone: v.optional(v.pipe(v.string(), v.trim())),
  message: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(10, contactWords.messageRule),
    v.check(isVisible, contactWords.messageRule),
  ),
});

const simulatedDelayMs = 1500;

export async function sendMessage(message: object): Promise<void> {
  if (!contactAddress) return new Promise((resolve) => void setTimeout(resolve, simulatedDelayMs));
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetchInTime(contactAddress, timeLimits.writingMs, {
    method: 'POST',
    headers,
    body: JSON.stringify(message),
    credentials: 'omit',
  });
  if (!(response instanceof Response)) throw sendFailed(response);
  if (!response.ok) throw new Error(`The contact address responded with ${response.status}`);
}
