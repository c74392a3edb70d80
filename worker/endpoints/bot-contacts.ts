import { sql } from 'drizzle-orm';
import { botStatements, won } from '../auth/bot-call.ts';
import { canonicalPhone } from '../auth/canonical-phone.ts';
import { meetUser } from '../usage/meet-user.ts';
import type { Handler } from '../http/call.ts';

export const botContacts: Handler<'botContacts'> = async ({ input, botCall, db, settings, now }) => {
  const whatsappId = input.whatsappId ?? input.phone.slice(1);
  const contact = meetUser({ phone: canonicalPhone(input.phone), whatsappId, contactedAt: now }, settings, now);
  await botCall.once(db, now, botStatements(sql`select '{}' as answer`, [contact(won)]));
  return { success: true, known: true };
};
