import { verifyBotCall } from '../auth/bot-call.ts';
import { Caller } from '../auth/caller.ts';
import { bearerToken, sessionFromQuery } from '../auth/credentials.ts';
import { verifyToken } from '../auth/session-token.ts';
import type { Endpoint } from '../contract/endpoints.ts';
import { Problem } from '../problem.ts';
import type { Call } from './call.ts';
import { phoneTag } from './phone-tag.ts';
import { parseInput, readText } from './read-body.ts';

const bodyLimit = 16 * 1024;
const stripeBodyLimit = 512 * 1024;

/** The door of every endpoint: who is calling, then what was sent. Completes the call or refuses it. */
export async function admit(endpoint: Endpoint, call: Call): Promise<void> {
  if (endpoint.access === 'user') call.caller = await admitUser(endpoint, call);
  if (endpoint.method === 'GET') return;
  if (endpoint.access === 'public') await passFence(call);
  call.rawBody = await readText(call.request, endpoint.access === 'stripe' ? stripeBodyLimit : bodyLimit);
  if (endpoint.access === 'bot') {
    call.botCall = await verifyBotCall(call.settings.BOT_WEBHOOK_SECRET, call.request, call.rawBody);
  }
  const input = parseInput(endpoint, call.request.headers.get('content-type'), call.rawBody);
  Object.assign(call, { input });
  const { phone } = (input ?? {}) as { phone?: string };
  if (phone) call.exchange.phone = phoneTag(call.settings, phone);
}

async function admitUser(endpoint: Endpoint, { request, settings, db, now }: Call): Promise<Caller> {
  const claims = endpoint.tokenInQuery
    ? await sessionFromQuery(settings.SESSION_KEYS, request)
    : await verifyToken(settings.SESSION_KEYS, ['session+jwt'], bearerToken(request));
  if (!claims) throw new Problem('unauthenticated');
  return new Caller(claims, db, now, endpoint.whilePending === true);
}

/** Coarse and close to the caller; the exact limits stand in the database. */
async function passFence({ env, address }: Call): Promise<void> {
  const { success } = await env.PUBLIC_FENCE.limit({ key: address });
  if (!success) throw new Problem('rateLimited', { retryAfter: 60 });
}
