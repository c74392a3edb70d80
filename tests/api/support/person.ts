import { decodeJwt } from 'jose';
import { botCall, call, type Settings } from './api.ts';
import { until } from './clock.ts';
import { database, deliveredEvents, newestCode, sandbox } from './sandbox.ts';

export type Person = { phone: string; token: string };
/** A code that was sent, and the challenge of who requested it. */
export type Code = { phone: string; otp: string; challenge?: string | undefined };
type Caller = { address?: string | undefined; settings?: Settings };

let previous = 2_000_000 + (crypto.getRandomValues(new Uint32Array(1))[0]! % 5_000_000);

/** A unique number: one process runs all files. */
export function newPhone(): string {
  previous += 1;
  return `+1555${previous}`;
}

/** A unique id by which WhatsApp names a person whose number it hides. */
export const newBusinessUserId = () => `US.${crypto.randomUUID().replaceAll('-', '')}`;

/** The business ids of a number's user, each with its proof. */
export async function linkedTo(phone: string) {
  const sql = `select value, proof from aliases join users on users.id = user_id where phone = ? and kind = 'business'`;
  return (await database.execute(sql, [phone])).rows.map(({ value, proof }) => [value, proof]);
}

/** The types of the events about a number when the bot has accepted all, oldest first. */
export const eventTypes = async (phone: string) => (await deliveredEvents(phone)).map(({ type }) => type);

/** A user who has written to the assistant. */
export async function newContact(phone = newPhone()): Promise<{ phone: string }> {
  await botCall('/api/bot/contacts', { phone });
  return { phone };
}

/** A signed-in user. */
export async function newPerson(phone = newPhone()): Promise<Person> {
  return { phone, token: (await redeem(await newCode(phone))).body.token };
}

/** Another session of a number, by a token of the external issuer. */
export async function externalSession(phone: string): Promise<string> {
  const { token } = await sandbox.externalToken(phone);
  const { body } = await call('POST', '/api/auth/verify-external-token', { body: { token } });
  return body.token;
}

/** The session of a new trial link of a number, as somebody opens it to whom it was forwarded. */
export async function trialSession(phone: string, trial: object = {}): Promise<string> {
  const { body } = await botCall('/api/bot/trials', { phone, ...trial });
  const trialToken = new URL(body.url).searchParams.get('token');
  return (await call('POST', '/auth/verify-trial-token', { body: { trialToken } })).body.token;
}

export const getMe = (token: string) => call('GET', '/api/user/me', { token });
export const logOut = (token: string, everywhere = false) =>
  call('POST', '/api/auth/logout', { token, body: { everywhere } });
export const exportOf = (token: string) => call('GET', '/api/user/export', { token });
export const deleteAccount = (token: string) => call('DELETE', '/api/user/me', { token });

/** The profile, after the fetch from Stripe that reading it may start: that one holds the customer's lease. */
export const profileOf = async (token: string) =>
  (await call('GET', '/api/user/me', { token, settings: {} })).body.profile;

export const metadataOf = async (token: string) => (await profileOf(token)).metadata;

/** The plan and its status, as the user sees them. */
export async function planOf(token: string): Promise<[tier: string, status: string]> {
  const { subscriptionTier, subscriptionStatus } = await metadataOf(token);
  return [subscriptionTier, subscriptionStatus];
}

/** Counts messages. */
export const post = (phone: string, count = 1) => botCall('/api/bot/usage', { phone, count });

export const usageOf = async (phone: string) => (await botCall('/api/bot/entitlements', { phone })).body;

/** The ids of the user and of the session in a session token. */
export const userOf = (token: string) => decodeJwt(token).sub!;
export const sessionOf = (token: string) => decodeJwt(token)['sid'] as string;

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
export async function requestCode(phone: string, { address, settings }: Caller = {}): Promise<Code> {
  const { body } = await requestOtp(phone, address, settings);
  return { phone, otp: await newestCode(phone), challenge: body.challenge };
}

/** A code of a user who has just written, so that no earlier code limits it. */
export async function newCode(phone = newPhone(), caller?: Caller): Promise<Code> {
  await newContact(phone);
  return requestCode(phone, caller);
}

export const redeem = ({ phone, otp, challenge }: Code, caller: Caller = {}) =>
  call('POST', '/api/auth/verify-otp', { body: { phone, otp, challenge }, ...caller });

/** Tries a code without a challenge. */
export const verifyOtp = (phone: string, otp: string, address?: string) => redeem({ phone, otp }, { address });

/** The first step of a change of the number. */
export const requestChange = (token: string, phone: string, address?: string) =>
  call('POST', '/api/user/phone', { token, address, body: { phone } });

/** Requests a change of the number, and waits for its code, which is sent after the response. */
export async function beginChange(token: string, phone = newPhone(), address?: string): Promise<Code> {
  const codes = async () => (await sandbox.messages(phone)).flatMap(({ code }) => code ?? []);
  const { length: before } = await codes();
  const { body } = await requestChange(token, phone, address);
  const sent = await until(`a code on ${phone}`, codes, ({ length }) => length > before);
  return { phone, otp: sent.at(-1)!, challenge: body.challenge };
}

export const verifyChange = (token: string, body: Code, address?: string) =>
  call('POST', '/api/user/phone/verify', { token, address, body });

/** A wrong code. */
export const otherThan = (code: string) => (code === '000000' ? '000001' : '000000');
