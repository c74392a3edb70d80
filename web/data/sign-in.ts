import type { Output } from '#contract/endpoints';
import { loginWords } from '#words/login';
import { trialWords } from '#words/results';
import { request, revoke } from './api-client.ts';
import { ApiError, fileMissing } from './api-error.ts';
import { errorMessage } from './error-toasts.ts';
import { serverClock } from './clock.ts';
import { session } from './session.ts';
import { subjectOf, tokenExpired } from '../rules/token-claims.ts';
import { loadInTime } from './promise-limit.ts';

export type SignInResult = {
  success: boolean;
  status: string;
  message?: string | undefined;
  code?: ApiError['code'];
  /** ISO 8601. */
  until?: string | null;
};
/** Loads the profile's file before a code is used up: without it nobody could be signed in. */
const loadProfiles = () =>
  loadInTime(import('./profile-query.ts')).catch(() => {
    throw fileMissing();
  });

/** Loads the profile's file early, since the connection may be lost later. */
export function prepareSignIn(): void {
  void import('./profile-query.ts').catch(() => null);
}

type PartialSignIn = { success?: boolean; token?: string; status?: string; message?: string };

const noFailure = { isNetworkError: false, isLost: false, limit: null };

/** A refusal of codes until a time, except by a message with the link code. */
type Limit = { until: string | null; linkCode: string | null };

type OtpResult = Omit<typeof noFailure, 'limit'> & {
  limit: Limit | null;
  success: boolean;
  requiresInitialContact: boolean;
  message?: string | undefined;
  challenge?: string | undefined;
  linkCode?: string | undefined;
};

/** Requests a code. `isLost`: one may have been sent, but no response came in time. */
export async function requestOtp(phone: string): Promise<OtpResult> {
  try {
    const { success, requiresInitialContact, message, challenge, linkCode } = await request(
      'requestOtp',
      { phone },
    );
    return { success, requiresInitialContact, message, challenge, linkCode, ...noFailure };
  } catch (error) {
    const message = errorMessage(error, loginWords.requestFailed);
    const kind = error instanceof ApiError ? error.kind : null;
    return {
      success: false,
      requiresInitialContact: false,
      message,
      isNetworkError: kind === 'unreachable',
      limit: limitOf(error),
      isLost: kind === 'unreachable' || kind === 'slow',
    };
  }
}

function limitOf(error: unknown): Limit | null {
  if (!(error instanceof ApiError) || error.status !== 429) return null;
  return { until: error.until, linkCode: error.linkCode ?? null };
}

export type ContactState = Output<'contactState'>['state'];
export type CodeState = Output<'codeState'>['state'];

/** Returns the state of the first contact; `waiting` also without a response. */
export async function readContactState(phone: string, linkCode: string): Promise<ContactState> {
  try {
    const { state } = await request('contactState', { phone, linkCode });
    return state;
  } catch {
    return 'waiting';
  }
}

/** Returns the state of a code; `sent` also without a response. */
export async function readCodeState(phone: string, challenge: string): Promise<CodeState> {
  try {
    const { state } = await request('codeState', { phone, challenge });
    return state;
  } catch {
    return 'sent';
  }
}

type Attempt = { phone: string; otp: string; challenge: string | string[] | undefined };

export function verifyOtp({ phone, otp, challenge }: Attempt): Promise<SignInResult> {
  return signIn(() => request('verifyOtp', { phone, otp, ...(challenge && { challenge }) }));
}

export async function activateTrial(trialToken: string | null): Promise<SignInResult> {
  if (!trialToken) return failure(trialWords.missing);
  const before = session.storedToken();
  const result = await signIn(
    () => request('verifyTrialToken', { trialToken }),
    trialWords.unexpected,
  );
  if (!result.success) return before ? afterFailure(result, before) : result;
  const { token } = session.get();
  if (token && isOfAnother(before, token)) session.markSwitched(token);
  return result;
}

/** Goes on with a running trial. Another session that was put aside can be taken back in this tab. */
async function afterFailure(result: SignInResult, before: string): Promise<SignInResult> {
  if (result.code === 'trial_running') {
    session.follow(before);
    const { fetchProfile } = await loadProfiles();
    const isOwn = (await fetchProfile()).success && session.get().user?.isTrial;
    if (isOwn) return { success: true, status: 'running' };
  }
  session.putAside(before);
  return result;
}

export async function verifyExternalToken(externalToken: string): Promise<SignInResult> {
  try {
    const { keepProfile } = await loadProfiles();
    const response: PartialSignIn & { user?: object } = await request('verifyExternalToken', {
      token: externalToken,
    });
    const { success, token, user, status, message } = response;
    if (!success || !token || !user) return failure(message ?? loginWords.unexpected);
    keepProfile(token, user);
    startSession(token);
    return { success: true, status: status ?? 'authenticated' };
  } catch (error) {
    return failure(errorMessage(error, loginWords.unexpected));
  }
}

async function signIn(
  requestToken: () => Promise<PartialSignIn>,
  unexpected?: string,
): Promise<SignInResult> {
  try {
    const { fetchProfile } = await loadProfiles();
    const { success, token, status, message } = await requestToken();
    if (!success || !token) return failure(message, status);

    const replaced = session.start(token);
    if ((await fetchProfile()).success) {
      if (replaced) revoke(replaced);
      return { success: true, status: status ?? 'authenticated', message };
    }

    session.end(token);
    return failure(loginWords.profileFailed);
  } catch (error) {
    const { code, until } = error instanceof ApiError ? error : { code: null, until: null };
    return { ...failure(errorMessage(error, unexpected ?? loginWords.unexpected)), code, until };
  }
}

const isOfAnother = (stored: string | null, token: string) =>
  stored !== null &&
  !tokenExpired(stored, serverClock.now()) &&
  subjectOf(stored) !== subjectOf(token);

/** Begins a session, and ends the replaced one at the server. */
function startSession(token: string): void {
  const replaced = session.start(token);
  if (replaced) revoke(replaced);
}

const failure = (message: string | undefined, status = 'failed'): SignInResult => ({
  success: false,
  status,
  message,
});
