import { describeError, log } from '../lib/log.ts';

export type Alarm = {
  run: (now: number) => number | null | Promise<number | null>;
  /** The platform gives an alarm up after six failures. */
  againMs: number;
  failed: string;
};

/**
 * Several alarms over the one that an object has, as tldraw's `AlarmScheduler`.
 * That one stores a time for each name; here each alarm tells from what it
 * stores anyway when it is due, since a stored time would be a row more a day
 * for each user: 0.3 G rows, about $300 a month with ten million users.
 */
export class NamedAlarms {
  readonly #storage: DurableObjectStorage;
  readonly #alarms: Record<string, Alarm>;

  constructor(storage: DurableObjectStorage, alarms: Record<string, Alarm>) {
    this.#storage = storage;
    this.#alarms = alarms;
  }

  async ringBy(instant: number): Promise<void> {
    const planned = await this.#storage.getAlarm();
    if (planned === null || planned > instant) await this.#storage.setAlarm(instant);
  }

  /** A failure does not stop the others. */
  async ring(now: number): Promise<void> {
    const times: (number | null)[] = [];
    for (const alarm of Object.values(this.#alarms)) times.push(await timeAfter(alarm, now));

    const due = times.filter((time) => time !== null);
    if (due.length > 0) await this.ringBy(Math.min(...due));
  }
}

async function timeAfter({ run, againMs, failed }: Alarm, now: number): Promise<number | null> {
  try {
    return await run(now);
  } catch (error) {
    log('error', failed, describeError(error));
    return now + againMs;
  }
}
