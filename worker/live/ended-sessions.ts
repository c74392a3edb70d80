import { liveSessions } from '../identity/open-session.ts';
import { openDatabase } from '../lib/database.ts';
import { settingsOf } from '../settings.ts';
import type { OpenStream } from './open-streams.ts';

/**
 * Closes the streams of sessions that ended while their Worker was killed, so
 * that nobody called `endStreams`. A call announces the end with `expectEnd`;
 * the alarm then compares the streams with the database within ten seconds.
 */
export const checkMs = 10_000;
const checkUntilKey = 'checkUntil';

export class EndedSessions {
  readonly #storage: DurableObjectStorage;
  readonly #env: object;
  readonly #openStreams: () => OpenStream[];

  constructor(storage: DurableObjectStorage, env: object, openStreams: () => OpenStream[]) {
    this.#storage = storage;
    this.#env = env;
    this.#openStreams = openStreams;
  }

  /** When (unix ms) the alarm should ring. */
  async expect(now: number): Promise<number> {
    const checkAt = now + checkMs;
    await this.#storage.put(checkUntilKey, checkAt);
    return checkAt;
  }

  async check(): Promise<number | null> {
    if ((await this.#checkUntil()) === undefined) return null;
    const readAt = Date.now();
    const [first] = this.#openStreams();
    if (first && !(await this.#closeUnlessLive(first.userId))) return Date.now() + checkMs;

    // An end that was announced meanwhile may
    // be of a session that was still live.
    const checkUntil = await this.#checkUntil();
    if (checkUntil !== undefined && readAt < checkUntil) return checkUntil;
    await this.#storage.delete(checkUntilKey);
    return null;
  }

  #checkUntil(): Promise<number | undefined> {
    return this.#storage.get<number>(checkUntilKey);
  }

  async #closeUnlessLive(userId: string): Promise<boolean> {
    try {
      const db = openDatabase(settingsOf(this.#env)!, {
        requests: 0,
        unreachable: false,
      });
      const live = await liveSessions(db, userId, Date.now());
      for (const { socket, sessionId } of this.#openStreams())
        if (!live.has(sessionId)) socket.close(1000);
      return true;
    } catch {
      return false;
    }
  }
}
