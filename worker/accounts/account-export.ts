import { eq } from 'drizzle-orm';
import { users } from '#db/schema';
import { exportBilling } from '../billing/customer.ts';
import { exportOutbox } from '../bot/outbox.ts';
import { exportConversation } from '../chat/chat-user.ts';
import { RequestError } from '../lib/request-error.ts';
import { exportSignIn } from '../sign-in/export-sign-in.ts';
import { exportTrials } from '../trials/export-trials.ts';
import type { ExportContext, ExportSection } from './user.ts';

/** Tables that another section covers, or that have no user. */
const notes: ExportSection = async () => ({
  notes: [
    'Messages on WhatsApp are kept by WhatsApp and by the assistant.',
    'Responses to the assistant are kept for 7 days under the ids of its calls, with your count at that time.',
  ],
});

/** A feature that stores data about users adds its section here. */
const sections = [exportSignIn, exportTrials, exportBilling, exportConversation, exportOutbox, notes];

/** A number at or above it is an instant in unix ms. */
const firstInstant = 1_000_000_000_000;

/**
 * Everything that Solace stores about a user, as readable JSON. Throws 404 for an unknown user, and if one section fails,
 * since a partial export would mislead.
 */
export async function exportAccount(context: Omit<ExportContext, 'user'>, userId: string): Promise<string> {
  const [user] = await context.db.select().from(users).where(eq(users.id, userId));
  if (!user) throw new RequestError('notFound');
  const parts = await Promise.all(sections.map((section) => section({ ...context, user })));
  // The wrapped key of the conversation is a secret.
  const { chatKey: _key, chatKeyId: _keyId, ...account } = user;
  const data: object = Object.assign({ account }, ...parts);
  return JSON.stringify(data, withReadableInstants, 2);
}

function withReadableInstants(_key: string, value: unknown): unknown {
  return typeof value === 'number' && value >= firstInstant ? new Date(value).toISOString() : value;
}
