import { botCall, type Settings } from './api.ts';
import { requestOtp } from './codes.ts';
import { newBusinessUserId, newPhone } from './contacts.ts';

/** The login page asks for a code of a number that never wrote. */
export async function ask(phone = newPhone()) {
  const { body } = await requestOtp(phone);
  return { phone, linkCode: body.linkCode as string };
}

export const claim = (
  linkCode: string,
  businessUserId = newBusinessUserId(),
  id?: string,
  settings?: Settings,
) => botCall('/api/bot/contacts', { businessUserId, linkCode }, id, settings);

export const allowedBy = async (name: object) =>
  (await botCall('/api/bot/entitlements', name)).body.allowed;

export const sendBack = (businessUserId: string, code: string) =>
  botCall('/api/bot/contacts', { businessUserId, code });
