import { liveSessions } from '../identity/open-session.ts';
import { openDatabase } from '../lib/database.ts';
import { settingsOf } from '../settings.ts';
import type { OpenStream } from './open-streams.ts';

/** Their Worker was killed before it ended the streams. */
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

    // It may be of a session that was still live.
    const checkUntil = await this.#checkUntil();
    if (checkUntil !== undefined && readAt < checkUntil) return checkUntil;
    await this.#storage.delete(checkUntilKey);
    return null;
  }

  #checkUntil(): Promise<number | undefined> {
    return this.#storage.get<number>(checkUntilKey);
  }

  /** False if the database could not be asked. */
  async #closeUnlessLive(userId: string): Promise<boolean> {
    try {
      const db = openDatabase(settingsOf(this.#env)!, { requests: 0, unreachable: false });
      const live = await liveSessions(db, userId, Date.now());
      for (const { socket, sessionId } of this.#openStreams())
        if (!live.has(sessionId)) socket.close(1000);
      return true;
    } catch {
      return false;
    }
  }
}
