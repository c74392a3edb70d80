import { deviceOf } from '../lib/device.ts';
import { redeemByChallenge } from '../sign-in/redeem-by-challenge.ts';
import { redeemNewestCode } from '../sign-in/redeem-newest-code.ts';
import { newCode } from '../sign-in/code-secrets.ts';
import { issueCode, undoCode, type Issued } from '../sign-in/issue-code.ts';
import { sendStoredCode, stateOfCode } from '../sign-in/code-delivery.ts';
import { stateOfLink } from '../sign-in/state-of-link.ts';
import { brand } from '../contract/brand.ts';
import type { Handler } from '../http/handlers.ts';
import { RequestError, rateLimited } from '../lib/request-error.ts';
import { sessionToken } from '../sign-in/session-token.ts';
import { refusalOf } from '../identity/user-session.ts';
import { endUserSessions } from '../account/end-user-sessions.ts';
import { externalIssuer, redeemExternalToken } from '../sign-in/external-token.ts';
import { currentCount } from '../usage/week.ts';
import { profileOf } from '../usage/profile.ts';
import { redeemTrial } from '../trials/redeem-trial.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { publish } from '../live/publish.ts';

export const requestOtp: Handler<'requestOtp'> = async (scope) => {
  const { now, input } = scope;
  const issued = await issueCode(scope, input, newCode());

  switch (issued.kind) {
    case 'limited':
      throw rateLimited(issued.until, now, { linkCode: issued.linkCode });
    case 'budgetSpent':
      throw new RequestError('unavailable', { retryAfter: issued.retryAfter });
    case 'unknownNumber': {
      const message = `We haven't seen this number on ${brand.messagingApp} yet. Please message ${brand.companion} first.`;
      return {
        success: false,
        requiresInitialContact: true,
        message,
        linkCode: issued.linkCode,
      };
    }
    case 'issued':
      return sendIssued(scope, issued);
  }
};

async function sendIssued(
  scope: Parameters<Handler<'requestOtp'>>[0],
  { message, challenge, nextAfterSeconds }: Extract<Issued, { kind: 'issued' }>,
) {
  await sendStoredCode(scope, message, {
    undo: () => undoCode(scope, message.phone, message.sentBy),
    // The code stays good until the next one.
    ifLost: { retryAfter: nextAfterSeconds },
  });
  return {
    success: true,
    requiresInitialContact: false,
    challenge,
  };
}

export const contactState: Handler<'contactState'> = async (scope) => {
  const { phone, linkCode } = scope.input;
  return { success: true, state: await stateOfLink(scope, phone, linkCode) };
};

export const codeState: Handler<'codeState'> = async (scope) => {
  const { phone, challenge } = scope.input;
  return { success: true, state: await stateOfCode(scope, phone, challenge) };
};

const withDevice = <Given extends { request: Request }>(scope: Given) => ({
  ...scope,
  device: deviceOf(scope.request),
});

export const verifyOtp: Handler<'verifyOtp'> = async (scope) => {
  const { phone, otp: code, challenge = [] } = scope.input;
  const typed = { phone, code };
  const challenges = [challenge].flat();

  const redeemed =
    challenges.length === 0
      ? await redeemNewestCode(withDevice(scope), typed)
      : await redeemByChallenge(withDevice(scope), typed, challenges);

  switch (redeemed.kind) {
    case 'limited':
      throw rateLimited(redeemed.until, scope.now);
    case 'spent':
      throw new RequestError('codeSpent');
    case 'invalid':
      throw new RequestError('invalidCode');
    case 'signedIn': {
      const token = await sessionToken(scope.settings, redeemed.session, scope.now);
      return {
        success: true,
        token,
        status: redeemed.status,
      };
    }
  }
};

export const verifyExternalToken: Handler<'verifyExternalToken'> = async (scope) => {
  const { input, settings, now } = scope;
  const issuer = externalIssuer(settings);
  if (!issuer) throw new RequestError('notFound');

  const { user, session } = await redeemExternalToken(withDevice(scope), issuer, input.token);
  const token = await sessionToken(settings, session, now);

  return {
    success: true,
    token,
    user: profileOf(user, now),
    status: user.status,
  };
};

const trialErrors = {
  running: 'trialRunning',
  spent: 'trialSpent',
  invalid: 'invalidToken',
} as const;

export const verifyTrialToken: Handler<'verifyTrialToken'> = async (scope) => {
  const { input, db, env, settings, now, waitUntil } = scope;
  const redemption = await redeemTrial(withDevice(scope), input.trialToken);
  if (redemption.outcome !== 'begun') throw new RequestError(trialErrors[redemption.outcome]);

  const { user, sessionId } = redemption;
  const total = {
    kind: 'total' as const,
    seq: user.usageSeq,
    ...currentCount(user, now),
  };

  waitUntil(publish(env, user.id, total, { kind: 'changed' }));
  waitUntil(deliverSoon(db, settings, user.id));

  return {
    success: true,
    token: await sessionToken(settings, { userId: user.id, sessionId }, now),
  };
};

export const logout: Handler<'logout'> = async (scope) => {
  const { session, input } = scope;
  return session.run([], async ({ user, limitedBy }) => {
    if (input.everywhere && limitedBy) throw refusalOf(limitedBy);
    await endUserSessions(scope, user.id, input.everywhere ? null : session.sessionId);
    return { success: true };
  });
};
