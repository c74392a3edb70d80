import { sql } from 'drizzle-orm';
import type { PhoneNumber } from '#db/schema';
import { isSealedSql, openParked } from '../../bot/parked-deletions.ts';
import type { Database } from '../../lib/database.ts';
import { phoneTag } from '../../lib/log.ts';
import { RequestError } from '../../lib/request-error.ts';
import { printableOnLine, UsageError } from '../command-line.ts';
import type { Action, SupportCommand, SupportRequest } from './command-audit.ts';

/** Unix ms; `phone` is a keyed hash if it is `sealed`. */
export type ParkedEvent = {
  seq: number;
  type: string;
  phone: PhoneNumber;
  attempts: number;
  parkedAt: number;
  sealed: number;
};
type Opened = Pick<SupportRequest, 'db' | 'settings'>;

export async function parkedEvents(db: Database): Promise<ParkedEvent[]> {
  return db.all<ParkedEvent>(sql`select seq, body ->> 'type' as type, phone, attempts, parked_at as parkedAt, ${isSealedSql} as sealed
    from outbox where parked_at is not null order by parked_at`);
}

export async function retryParked(
  { db, settings }: Opened,
  seq: number,
  now: number,
): Promise<boolean> {
  const [parked] = await db.all<{
    seq: number;
    phone: PhoneNumber;
    body: string;
  }>(sql`select seq, phone, body from outbox where seq = ${seq} and parked_at is not null`);
  if (!parked) return false;
  const { phone, body } = await openParked(settings, parked);
  const { rowsAffected } =
    await db.run(sql`update outbox set parked_at = null, attempts = 0, due_at = ${now},
    created_at = ${now}, leased_until = 0, phone = ${phone},
    body = case when message_id is null then ${body} else json_set(body, '$.data.retried', json('true')) end
    where seq = ${seq} and parked_at is not null`);
  return rowsAffected > 0;
}

export async function dropParked(db: Database, seq: number): Promise<boolean> {
  const { rowsAffected } = await db.run(
    sql`delete from outbox where seq = ${seq} and parked_at is not null`,
  );
  return rowsAffected > 0;
}

export const outbox: SupportCommand = {
  usage: 'outbox [retry|drop SEQ|all --yes]',
  about: 'lists the events that the bot refused, sends them again, or removes them',
  async run(request) {
    const [verb, which] = request.words;
    const parked = await parkedEvents(request.db);
    if (verb === undefined) return list(request, parked);
    if (verb !== 'retry' && verb !== 'drop')
      throw new UsageError('outbox takes nothing, or retry, or drop.');
    return apply(request, verb, chosen(parked, which));
  },
};

function list({ settings }: SupportRequest, parked: ParkedEvent[]): Action {
  return {
    would: 'list the parked events',
    about: `${parked.length} events`,
    needsYes: false,
    async perform() {
      const data = await Promise.all(
        parked.map(async ({ phone, sealed, ...rest }) => ({
          ...rest,
          user: sealed ? phone.slice(0, 8) : await phoneTag(settings.CODE_PEPPER[0]!, phone),
        })),
      );
      const lines = data.map(
        ({ seq, type, user, parkedAt }) =>
          `${seq}  ${printableOnLine(type)}  ${user}  parked ${new Date(parkedAt).toISOString()}`,
      );
      return {
        data,
        text: lines.length > 0 ? lines.join('\n') : 'No event is parked.',
      };
    },
  };
}

function chosen(parked: ParkedEvent[], which: string | undefined): ParkedEvent[] {
  if (which === 'all') return parked;
  if (!which || !/^\d+$/.test(which))
    throw new UsageError('Give the number of an event, as `outbox` lists it, or all.');
  const found = parked.filter(({ seq }) => seq === Number(which));
  if (found.length === 0) throw new Error(`No parked event has the number ${which}.`);
  return found;
}

function apply(
  { db, settings }: SupportRequest,
  verb: 'retry' | 'drop',
  events: ParkedEvent[],
): Action {
  const types = [...new Set(events.map(({ type }) => type))].join(', ');
  const seqs = events.map(({ seq }) => seq);
  const would = {
    retry: `send ${events.length} parked events (${types}) to the bot again`,
    drop: `remove ${events.length} parked events (${types}), so that the bot never gets them`,
  };

  return {
    would: would[verb],
    about: `${types}: ${seqs.join(' ')}`,
    needsYes: true,
    async perform() {
      let settled = 0;
      const failures: string[] = [];

      for (const { seq } of events) {
        try {
          const done =
            verb === 'retry'
              ? await retryParked({ db, settings }, seq, Date.now())
              : await dropParked(db, seq);
          if (done) settled += 1;
        } catch (error) {
          failures.push((error as Error).message);
          if (error instanceof RequestError) break;
        }
      }

      const done = verb === 'retry' ? 'will be sent again within a minute' : 'were removed';
      const text = `${settled} events ${done}.`;
      if (failures.length === 0) return { data: { [verb]: settled }, text };

      const rest = `${events.length - settled} were not: ${failures.join(' ')}`;
      return {
        data: { [verb]: settled, failures },
        text: `${text} ${rest}`,
        complete: false,
      };
    },
  };
}
