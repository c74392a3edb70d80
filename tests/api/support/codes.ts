import { botCall, call, type Settings } from './api.ts';
import { newBusinessUserId, newContact, newPhone } from './contacts.ts';
import { newestCode, sandbox } from './sandbox.ts';
import { until } from './clock.ts';

/** A code that was sent, and the challenge of who requested it. */
export type Code = { phone: string; otp: string; challenge?: string | undefined };
/** A try with one challenge, with several, or without. */
type Try = { phone: string; otp: string; challenge?: string | string[] | undefined };
type Caller = { address?: string | undefined; settings?: Settings };

export const requestOtp = (phone: string, address?: string, settings?: Settings) =>
  call('POST', '/api/auth/request-otp', { body: { phone }, address, settings });

/** Somebody with a hidden number claims a number, for which the login page shows a link code. */
export async function claimNumber(phone = newPhone(), address?: string) {
  const { linkCode } = (await requestOtp(phone, address)).body;
  const businessUserId = newBusinessUserId();
  await botCall('/api/bot/contacts', { businessUserId, linkCode });
  return { phone, businessUserId, linkCode: linkCode as string, otp: await newestCode(phone) };
}

/** Requests a code and reads it from the phone, with the challenge of its caller. */
export async function requestCode(
  phone: string,
  { address, settings }: Caller = {},
): Promise<Code> {
  const { body } = await requestOtp(phone, address, settings);
  return { phone, otp: await newestCode(phone), challenge: body.challenge };
}

/** A code of a user who has just written, so that no earlier code limits it. */
export async function newCode(phone = newPhone(), caller?: Caller): Promise<Code> {
  await newContact(phone);
  return requestCode(phone, caller);
}

export const redeem = ({ phone, otp, challenge }: Try, caller: Caller = {}) =>
  call('POST', '/api/auth/verify-otp', { body: { phone, otp, challenge }, ...caller });

export const verifyOtp = (phone: string, otp: string, address?: string) =>
  redeem({ phone, otp }, { address });

/** A wrong code. */
export const otherThan = (code: string) => (code === '000000' ? '000001' : '000000');

/** The first step of a change of the number. */
export const requestChange = (token: string, phone: string, address?: string) =>
  call('POST', '/api/user/phone', { token, address, body: { phone } });

/** Requests a change of the number, and waits for its code, which is sent after the response. */
export async function beginChange(
  token: string,
  phone = newPhone(),
  address?: string,
): Promise<Code> {
  const codes = async () => (await sandbox.messages(phone)).flatMap(({ code }) => code ?? []);
  const { length: before } = await codes();
  const { body } = await requestChange(token, phone, address);
  const sent = await until(`a code on ${phone}`, codes, ({ length }) => length > before);
  return { phone, otp: sent.at(-1)!, challenge: body.challenge };
}

export const verifyChange = (token: string, body: Code, address?: string) =>
  call('POST', '/api/user/phone/verify', { token, address, body });
