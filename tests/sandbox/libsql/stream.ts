import { Connection, WriteLock } from './connection.ts';

/** The stream of one client: its own connection, and the SQL texts stored on it. */
export type Stream = {
  connection: Connection;
  texts: Map<number, string>;
  lock: WriteLock;
  /** The maximum wait (ms) of a writer for another one. */
  patienceMs: number;
};

export type StreamSettings = {
  file: string;
  patienceMs?: number;
  /** The time (ms) without a request after which a stream is rolled back. */
  idleMs?: number;
};

/** Opens streams, keeps the idle ones for their next request, and closes those that time out. */
export class Streams {
  readonly #settings: Required<StreamSettings>;
  readonly #lock = new WriteLock();
  readonly #spare: Connection[] = [];
  readonly #waiting = new Map<string, { stream: Stream; timer: NodeJS.Timeout }>();

  constructor({ file, patienceMs = 8000, idleMs = 5000 }: StreamSettings) {
    this.#settings = { file, patienceMs, idleMs };
  }

  open(): Stream {
    const connection = this.#spare.pop() ?? new Connection(this.#settings.file);
    return { connection, texts: new Map(), lock: this.#lock, patienceMs: this.#settings.patienceMs };
  }

  /** The idle stream of this baton, which is valid once. */
  resume(baton: string): Stream | undefined {
    const found = this.#waiting.get(baton);
    if (!found) return undefined;
    clearTimeout(found.timer);
    this.#waiting.delete(baton);
    return found.stream;
  }

  /** Keeps the stream for another request and returns its baton. */
  keep(stream: Stream): string {
    const baton = crypto.randomUUID();
    const timer = setTimeout(() => this.end(this.resume(baton) ?? stream), this.#settings.idleMs);
    this.#waiting.set(baton, { stream, timer });
    if (!stream.connection.inTransaction) this.#lock.released();
    return baton;
  }

  end({ connection }: Stream): void {
    connection.rollback();
    if (connection.reusable && this.#spare.length < 8) this.#spare.push(connection);
    else connection.close();
    this.#lock.released();
  }

  close(): void {
    for (const baton of this.#waiting.keys()) {
      const stream = this.resume(baton);
      if (stream) this.end(stream);
    }
    for (const connection of this.#spare.splice(0)) connection.close();
  }
}
