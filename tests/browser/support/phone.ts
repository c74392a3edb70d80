import { randomInt } from 'node:crypto';

type Message = { from: 'user' | 'solace'; text: string; code?: string; url?: string };

/** A phone of the local services. */
export class Phone {
  readonly number = `+1555${String(randomInt(10_000_000)).padStart(7, '0')}`;

  messages(): Promise<Message[]> {
    return this.#control('GET', 'messages');
  }

  write(text: string): Promise<{ reply: string; usage: Record<string, unknown> }> {
    return this.#control('POST', 'messages', { text });
  }

  externalToken(): Promise<{ token: string }> {
    return this.#control('POST', 'external-token', {});
  }

  trial(details: { tier?: string; days?: number } = {}): Promise<{ url: string }> {
    return this.#control('POST', 'trial', details);
  }

  status(status: 'approved' | 'pending'): Promise<unknown> {
    return this.#control('POST', 'status', { status });
  }

  /** The newest code; waits until one arrives. */
  async code(after = 0): Promise<string> {
    for (let tries = 0; tries < 100; tries += 1) {
      const codes = (await this.messages()).flatMap(({ code }) => code ?? []);
      if (codes.length > after) return codes.at(-1)!;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`No code has come to ${this.number}`);
  }

  async #control<T>(method: string, path: string, body?: object): Promise<T> {
    const url = `${process.env.SANDBOX_URL}/phones/${encodeURIComponent(this.number)}/${path}`;
    const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {};
    const response = await fetch(url, { method, ...init });
    if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${await response.text()}`);
    return response.json() as Promise<T>;
  }
}
