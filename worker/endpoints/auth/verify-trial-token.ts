import { keyedHashes } from '../../lib/keyed-hash.ts';
import { redeemTrial } from '../../trials/redeem-trial.ts';
import { sessionToken } from '../../sign-in/session-token.ts';
import type { Handler } from '../../http/handler.ts';
import { deliverSoon } from '../../bot/deliver-outbox.ts';
import { RequestError } from '../../lib/request-error.ts';
import { publish } from '../../usage/publish.ts';

export const verifyTrialToken: Handler<'verifyTrialToken'> = async ({ input, db, env, settings, now, waitUntil }) => {
  const macs = await keyedHashes(settings.CODE_PEPPER, 'trial', input.trialToken);
  const sessionId = crypto.randomUUID();
  const { user, spent } = await redeemTrial(db, settings, macs, sessionId, now);
  if (spent) throw new RequestError('conflict', { message: 'This number has already had its trial.' });
  if (!user) throw new RequestError('invalidToken');
  waitUntil(publish(env, user.id, { kind: 'changed' }));
  waitUntil(deliverSoon(db, settings, user.phone));
  return { success: true, token: await sessionToken(settings, { userId: user.id, sessionId }, now) };
};
