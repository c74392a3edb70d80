import { decodeJwt } from 'jose';
import { botCall, call } from './api.ts';
import { newCode, redeem } from './codes.ts';
import { newPhone } from './contacts.ts';
import { sandbox } from './sandbox.ts';

export type Person = { phone: string; token: string };

export async function newPerson(phone = newPhone()): Promise<Person> {
  return {
    phone,
    token: (await redeem(await newCode(phone))).body.token,
  };
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
  (
    await call('GET', '/api/user/me', {
      token,
      settings: {},
    })
  ).body.profile;

export const metadataOf = async (token: string) => (await profileOf(token)).metadata;

/** The plan and its status, as the user sees them. */
export async function planOf(token: string): Promise<[tier: string, status: string]> {
  const { subscriptionTier, subscriptionStatus } = await metadataOf(token);
  return [subscriptionTier, subscriptionStatus];
}

export const userOf = (token: string) => decodeJwt(token).sub!;
export const sessionOf = (token: string) => decodeJwt(token)['sid'] as string;

export const choosePlatform = (token: string, platform = 'web') =>
  call('PUT', '/api/user/platform', { token, body: { platform } });
