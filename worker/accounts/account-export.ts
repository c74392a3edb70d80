import { eq } from 'drizzle-orm';
import { users } from '#db/schema';
import { exportBilling } from '../billing/customer.ts';
import { exportOutbox } from '../bot/outbox.ts';
import { exportConversation } from '../chat/chat-user.ts';
import { RequestError } from '../lib/request-error.ts';
import { exportSignIn } from '../sign-in/one-time-code.ts';
import { exportTrials } from '../trials/trials.ts';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import type { Settings } from '../settings.ts';
import type { ExportSection } from './user.ts';

type Context = { db: Database; env: Env; settings: Settings };

/** Tables that another section covers, or that have no user. */
const notes: ExportSection = async () => ({
  notes: [
    'Messages on WhatsApp are kept by WhatsApp and by the assistant.',
    'Responses to the assistant are kept for 7 days under the ids of its calls, with your count at that time.',
  ],
});

/** A feature that stores data about users adds its section here. */
const sections: ExportSection[] = [exportSignIn, exportTrials, exportBilling, exportOutbox, notes];

/** A number at or above it is an instant in unix ms. */
const firstInstant = 1_000_000_000_000;

/**
 * Everything that Solace stores about a user, as readable JSON. Throws 404 for an unknown user, and if one section fails,
 * since a partial export would mislead.
 */
export async function exportAccount({ db, env, settings }: Context, userId: string): Promise<string> {
  const [user] = await db.select().from(users).where(eq(users.id, userId));
  if (!user) throw new RequestError('notFound');
  const parts = await Promise.all([
    ...sections.map((section) => section({ user, db, settings })),
    exportConversation({ user, env, settings }),
  ]);
  // The wrapped key of the conversation is a secret; only older versions write `crisisUntil`.
  const { chatKey: _key, chatKeyId: _keyId, crisisUntil: _crisis, ...account } = user;
  const data: object = Object.assign({ account }, ...parts);
  return JSON.stringify(data, withReadableInstants, 2);
}

function withReadableInstants(_key: string, value: unknown): unknown {
  return typeof value === 'number' && value >= firstInstant ? new Date(value).toISOString() : value;
}
