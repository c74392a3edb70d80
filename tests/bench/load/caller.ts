import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Request } from './request.ts';

/** Calls a server over connections that stay open, one call at a time on each. */
export class Caller {
  readonly #pool: Pool;

  constructor(url: string, connections = 1) {
    this.#pool = new Pool(url, { connections, pipelining: 1 });
  }

  /** Makes one call and reads the complete response; throws unless it is a 200. */
  async call({ method, path, headers, body }: Request): Promise<string> {
    const answer = await this.#pool.request({ method, path, headers, body: body ?? null });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) {
      throw new Error(`${method} ${path.split('?')[0]} answered ${answer.statusCode}: ${text.slice(0, 200)}`);
    }
    return text;
  }

  /** Makes the calls one after the other, with a pause after each; returns the duration of each, in ms. */
  async lap(requests: Request[], pauseMs = 0): Promise<number[]> {
    const times: number[] = [];
    for (const request of requests) {
      const begun = performance.now();
      await this.call(request);
      times.push(performance.now() - begun);
      if (pauseMs > 0) await sleep(pauseMs);
    }
    return times;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
