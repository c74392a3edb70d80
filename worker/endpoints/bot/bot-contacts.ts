import { sql } from 'drizzle-orm';
import { idempotentStatements, isFirstCall } from '../../bot/bot-call.ts';
import { clearPhoneRateLimits } from '../../users/rate-limit-subjects.ts';
import { upsertUser } from '../../users/upsert-user.ts';
import type { Handler } from '../../http/handler.ts';

/** Only the owner of a number can write from it, so a contact clears limits that others may have reached. */
export const botContacts: Handler<'botContacts'> = async ({ input, botCall, db, settings, now }) => {
  const { phone, phoneAsSent, whatsappId = null } = input;
  const contact = { phone, whatsappId, assumedWhatsappId: phoneAsSent.slice(1), contactedAt: now };
  const effects = [upsertUser(contact, settings, now)(isFirstCall), clearPhoneRateLimits(phone, isFirstCall)];
  await botCall.once(db, now, idempotentStatements(sql`select '{}' as answer`, effects));
  return { success: true, known: true };
};
