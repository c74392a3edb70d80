import * as v from 'valibot';
import { log } from '../lib/log.ts';
import { openJson, sealJson } from '../lib/sealed-json.ts';
import type { Peppers } from '../lib/secrets.ts';

/** Of these only the newest is worth sending. */
export type ReplaceableEvent =
  | 'platform.changed'
  | 'chat.consent'
  | 'chat.cleared'
  | 'user.approved';

export type BotEvent =
  | ReplaceableEvent
  | 'user.deleted'
  | 'user.phone_changed'
  | 'user.unused'
  | 'plan.changed'
  | 'withdrawal.received'
  | 'withdrawal.refunded';

export type EventType = BotEvent | 'chat.message';

/**
 * What an event may say, by its type. Only these fields of an outbox row's data
 * are sent: words that somebody has written into one reach nobody. What
 * names or quotes a person is encrypted for the account whose event it is.
 */
const tier = v.picklist(['free', 'basic', 'premium', 'platinum']);
const unsealed = {
  'chat.message': v.object({
    locale: v.picklist(['en', 'es', 'pt-BR']),
    country: v.nullable(v.pipe(v.string(), v.regex(/^[A-Z0-9]{2}$/))),
  }),
  'chat.cleared': v.object({}),
  'chat.consent': v.object({ version: v.nullable(v.pipe(v.string(), v.regex(/^[!-~]{1,32}$/))) }),
  'platform.changed': v.object({ platform: v.picklist(['whatsapp', 'web']) }),
  'plan.changed': v.object({ tier, offSaleTier: v.optional(tier) }),
  'user.approved': v.object({ status: v.literal('approved') }),
  'user.unused': v.object({ deletesAt: v.pipe(v.string(), v.isoTimestamp()) }),
  'withdrawal.refunded': v.object({
    amount: v.pipe(v.number(), v.integer()),
    currency: v.pipe(v.string(), v.regex(/^[a-z]{3}$/)),
  }),
} satisfies Partial<Record<EventType, v.GenericSchema>>;

const Sealed = v.object({ sealed: v.string() });

export type SealedType = Exclude<EventType, keyof typeof unsealed>;
type Data = Record<string, unknown>;
type Of = { type: EventType; userId: string | null };

/** The account is gone when a deletion is sent. */
const sealingOf = ({ type, userId }: Of) => ({
  purpose: 'event' as const,
  context: type === 'user.deleted' ? `event|v1|${type}` : `event|v1|${type}|${userId}`,
});

export const sealData = (
  { CODE_PEPPER }: Peppers,
  of: { type: SealedType; userId: string },
  data: Data,
): Promise<string> => sealJson(CODE_PEPPER, sealingOf(of), data);

/** Null unless it was written for this account. */
export async function openData(settings: Peppers, of: Of, stored: unknown): Promise<Data | null> {
  const data = await readData(settings, of, stored);
  if (!data) log('error', 'row_not_bound', { table: 'outbox' });
  return data;
}

async function readData(settings: Peppers, of: Of, stored: unknown): Promise<Data | null> {
  const shape = shapeOf(of.type);
  if (shape) {
    const read = v.safeParse(shape, stored);
    return read.success ? (read.output as Data) : null;
  }
  const read = v.safeParse(Sealed, stored);
  return read.success ? openJson(settings.CODE_PEPPER, sealingOf(of), read.output.sealed) : null;
}

const shapeOf = (type: EventType): v.GenericSchema | undefined =>
  Object.hasOwn(unsealed, type) ? unsealed[type as keyof typeof unsealed] : undefined;
