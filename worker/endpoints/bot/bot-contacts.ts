import { sql } from 'drizzle-orm';
import { applyOnce, idempotentStatements, isFirstCall } from '../../bot/idempotent-call.ts';
import { clearPhoneRateLimits } from '../../accounts/rate-limit-subjects.ts';
import { upsertUser } from '../../accounts/upsert-user.ts';
import type { Handler } from '../../http/handler.ts';

/** Only the owner of a number can write from it, so a contact clears limits that others may have reached. */
export const botContacts: Handler<'botContacts'> = async (context) => {
  const { input, settings, now } = context;
  const { phone, phoneAsSent, whatsappId = null } = input;
  const contact = { phone, whatsappId, assumedWhatsappId: phoneAsSent.slice(1), contactedAt: now };
  const effects = [upsertUser(contact, settings, now)(isFirstCall), clearPhoneRateLimits(phone, isFirstCall)];
  await applyOnce(context, idempotentStatements(sql`select '{}' as answer`, effects));
  return { success: true, known: true };
};
