import { request } from './api.ts';
import { ApiError } from './api-error.ts';
import { fetchProfile } from './profile.ts';
import { readUser } from './rules/read-user.ts';
import { session } from './session.ts';
import { sentenceOf } from './tell.ts';
import { loginWords } from './words/login.ts';
import { trialWords } from './words/results.ts';

export type LoginResult = { success: boolean; status: string; message?: string | undefined };
type LooseLogin = { success?: boolean; token?: string; status?: string; message?: string };

/** Asks for a one-time code. `networkFailed` when no answer came at all. */
export async function requestOtp(phone: string) {
  try {
    const { success, requiresInitialContact, message } = await request('requestOtp', { phone });
    return { success, requiresInitialContact, message, networkFailed: false };
  } catch (error) {
    const message = sentenceOf(error, loginWords.requestFailed) ?? loginWords.requestFailed;
    const networkFailed = error instanceof ApiError && error.isNetwork;
    return { success: false, requiresInitialContact: false, message, networkFailed };
  }
}

/** Exchanges a code for a session. */
export async function verifyOtp(phone: string, otp: string): Promise<LoginResult> {
  return logIn(() => request('verifyOtp', { phone, otp }));
}

/** Exchanges the token of a trial link for a session; a failure ends the session that was there. */
export async function activateTrial(trialToken: string | undefined): Promise<LoginResult> {
  if (!trialToken) return failed(trialWords.missing);
  const result = await logIn(() => request('verifyTrialToken', { trialToken }), trialWords.unexpected);
  if (!result.success) session.clear();
  return result;
}

/** Exchanges a token of the external issuer for a session. */
export async function verifyExternalToken(token: string): Promise<LoginResult> {
  try {
    const answer = await request('verifyExternalToken', { token });
    if (!answer.success) return failed((answer as LooseLogin).message);
    session.keepToken(answer.token);
    session.setUser(readUser(answer.user));
    return { success: true, status: answer.status ?? 'authenticated' };
  } catch (error) {
    return failed(sentenceOf(error, loginWords.unexpected));
  }
}

async function logIn(
  exchange: () => Promise<LooseLogin>,
  unexpected: string = loginWords.unexpected,
): Promise<LoginResult> {
  try {
    const { success, token, status, message } = await exchange();
    if (!success || !token) return failed(message, status);
    session.keepToken(token);
    const profile = await fetchProfile();
    if (profile.success) return { success: true, status: status ?? 'authenticated', message };
    session.clear();
    return failed(loginWords.profileFailed);
  } catch (error) {
    return failed(sentenceOf(error, unexpected));
  }
}

const failed = (message: string | null | undefined, status = 'failed'): LoginResult => ({
  success: false,
  status,
  message: message ?? undefined,
});
