import type { User } from '#db/schema';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import type { Settings } from '../settings.ts';

export type ExportContext = { user: User; db: Database; env: Env; settings: Settings };
/**
 * What one feature stores about a user, without secrets and hashes; keys are unique across features. Instants are unix
 * ms.
 */
export type ExportSection = (context: ExportContext) => Promise<Record<string, unknown>>;

/** A number at or above it is an instant in unix ms. */
const firstInstant = 1_000_000_000_000;

/** Everything that the sections store about a user, as readable JSON; throws if one of them fails. */
export async function exportUser(context: ExportContext, sections: ExportSection[]): Promise<string> {
  const parts = await Promise.all(sections.map((section) => section(context)));
  // The wrapped key of the conversation is a secret.
  const { chatKey: _key, chatKeyId: _keyId, ...account } = context.user;
  const data: object = Object.assign({ account }, ...parts);
  return JSON.stringify(data, withReadableInstants, 2);
}

function withReadableInstants(_key: string, value: unknown): unknown {
  return typeof value === 'number' && value >= firstInstant ? new Date(value).toISOString() : value;
}
