import { sql, type SQL } from 'drizzle-orm';
import { rateLimitEvents } from '#db/schema';
import { nameOf } from './insert-select.ts';
import type { Limit } from './limits.ts';
import type { Value } from './prepared-statements.ts';

const { subject: subjects, at: instants, by: authors } = rateLimitEvents;

/** A subject of rate limits, with its limits. */
export type Limited = { subject: Value<string>; limits: Limit[] };

/** SQL: the instant (unix ms) from which all limits of all subjects allow an act; 0 if none applies. */
export function allowedAt(limited: Limited[]): SQL<number> {
  const [subjectName, at] = [nameOf(subjects), nameOf(instants)];
  const each = limited.flatMap(({ subject, limits }) =>
    limits.map(
      ({ most, per }) => sql`coalesce((select ${at} from ${rateLimitEvents} where ${subjectName} = ${subject}
        order by ${at} desc limit 1 offset ${sql.raw(String(most - 1))}) + ${sql.raw(String(per))}, 0)`,
    ),
  );
  return sql`max(${sql.join([sql`0`, sql`0`, ...each], sql`, `)})`;
}

/** SQL: records an event `by` for each subject whose condition holds, null ones excepted; conditions see the events before. */
export function recordEvents(
  by: Value<string>,
  now: Value<number>,
  events: [subjects: Value<string | null>[], when: SQL][],
): SQL {
  const each = events.map(([recorded, when]) => {
    const rows = recorded.map((subject) => sql`(${subject})`);
    return sql`select column1, ${now}, ${by} from (values ${sql.join(rows, sql`, `)})
      where column1 is not null and ${when}`;
  });
  const columns = [subjects, instants, authors].map(nameOf);
  return sql`insert into ${rateLimitEvents} (${sql.join(columns, sql`, `)}) ${sql.join(each, sql` union all `)}`;
}

/** SQL: whether the event `by` was recorded for the subject. */
export function wasRecorded(subject: Value<string>, by: Value<string>, now: Value<number>): SQL {
  return sql`exists (select 1 from ${rateLimitEvents}
    where ${subjects} = ${subject} and ${instants} = ${now} and ${authors} = ${by})`;
}
