import { keyedHashes } from '../auth/keyed-hash.ts';
import { redeemTrial } from '../auth/redeem-trial.ts';
import { sessionToken } from '../auth/session.ts';
import type { Handler } from '../http/call.ts';
import { deliverSoon } from '../messaging/deliver-outbox.ts';
import { Problem } from '../problem.ts';
import { publish } from '../usage/publish.ts';

export const verifyTrialToken: Handler<'verifyTrialToken'> = async ({ input, db, env, settings, now, later }) => {
  const macs = await keyedHashes(settings.CODE_PEPPER, 'trial', input.trialToken);
  const sessionId = crypto.randomUUID();
  const { user, spent } = await redeemTrial(db, macs, sessionId, now);
  if (spent) throw new Problem('conflict', { message: 'This number has already had its trial.' });
  if (!user) throw new Problem('invalidToken');
  later(publish(env, user.id, { kind: 'changed' }));
  later(deliverSoon(db, settings, user.phone));
  return { success: true, token: await sessionToken(settings, { userId: user.id, sessionId }, now) };
};
