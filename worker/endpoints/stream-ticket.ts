import { signToken, ticketLifetimeSeconds } from '../auth/session-token.ts';
import type { Handler } from '../http/call.ts';

export const streamTicket: Handler<'streamTicket'> = async ({ caller, settings, now }) => {
  const [user] = await caller.load();
  const claims = { userId: user.id, sessionId: caller.sessionId };
  const expiresAt = Math.floor(now / 1000) + ticketLifetimeSeconds;
  const ticket = await signToken(settings.SESSION_KEYS, 'stream+jwt', claims, expiresAt);
  return { success: true, ticket, expiresIn: ticketLifetimeSeconds };
};
