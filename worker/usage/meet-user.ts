import { sql, type SQL } from 'drizzle-orm';
import type { Settings } from '../settings.ts';

type Met = { phone: string; whatsappId: string | null; contactedAt: number | null };

/**
 * SQL that makes a number a free user, or notes the first contact of a user who is known already; the weeks of
 * somebody who does not pay are counted from that contact. Runs where the condition holds.
 */
export function meetUser({ phone, whatsappId, contactedAt }: Met, settings: Settings, now: number) {
  const status = settings.APPROVAL === 'manual' ? 'pending' : 'approved';
  const firstContact = sql`contacted_at is null and excluded.contacted_at is not null and renewal_at is null`;
  return (when: SQL): SQL => sql`
    insert into users (id, phone, whatsapp_id, status, created_at, contacted_at, week_anchor, week_start)
    select ${crypto.randomUUID()}, ${phone}, ${whatsappId}, ${status}, ${now}, ${contactedAt}, ${now}, ${now} where ${when}
    on conflict (phone) do update set
      week_anchor = case when ${firstContact} then excluded.week_anchor else week_anchor end,
      week_start = case when ${firstContact} then excluded.week_start else week_start end,
      contacted_at = coalesce(contacted_at, excluded.contacted_at),
      whatsapp_id = coalesce(excluded.whatsapp_id, whatsapp_id)`;
}
