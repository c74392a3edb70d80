import { signToken, ticketLifetimeSeconds } from '../../sign-in/session-token.ts';
import type { Handler } from '../../http/handler.ts';

export const streamTicket: Handler<'streamTicket'> = async ({ session, settings, now }) =>
  session.run([], async (user) => {
    const claims = { userId: user.id, sessionId: session.sessionId };
    const expiresAt = Math.floor(now / 1000) + ticketLifetimeSeconds;
    const ticket = await signToken(settings.SESSION_KEYS, 'stream+jwt', claims, expiresAt);
    return { success: true, ticket, expiresIn: ticketLifetimeSeconds };
  });
