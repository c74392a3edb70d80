import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

type Message = { from: 'user' | 'solace'; text: string; code?: string; url?: string };
type Holdings = {
  customer: Record<string, unknown>;
  subscriptions: { id: string; status: string; items: { data: { price: { lookup_key: string } }[] } }[];
  invoices: { status: string; total: number }[];
};

export const hour = 3600;
export const day = 24 * hour;

/** The longest time (ms) for which a test waits for a message; only a failure takes it. */
const patience = 60_000;

/** A phone of the local services: its messages, what its owner holds at Stripe, and how the bot treats it. */
export class Phone {
  readonly number = `+1555${String(randomInt(10_000_000)).padStart(7, '0')}`;

  readonly #phone = `phones/${encodeURIComponent(this.number)}`;
  readonly #customer = `stripe/customers/${encodeURIComponent(this.number)}`;

  messages(): Promise<Message[]> {
    return control('GET', `${this.#phone}/messages`);
  }

  write(text: string): Promise<{ reply: string; usage: Record<string, unknown> }> {
    return control('POST', `${this.#phone}/messages`, { text });
  }

  /** WhatsApp hides the number from the bot, which learns a business-scoped id instead. */
  hide(): Promise<unknown> {
    return control('PUT', `${this.#phone}/hidden`, { hidden: true });
  }

  externalToken(): Promise<{ token: string }> {
    return control('POST', `${this.#phone}/external-token`, {});
  }

  trial(details: { tier?: string; days?: number; language?: string } = {}): Promise<{ url: string }> {
    return control('POST', `${this.#phone}/trial`, details);
  }

  /** The newest code; waits until one arrives. */
  async code(): Promise<string> {
    for (const deadline = Date.now() + patience; Date.now() < deadline; await sleep(100)) {
      const code = (await this.messages()).findLast((message) => message.code)?.code;
      if (code) return code;
    }
    throw new Error(`No code came to ${this.number} in ${patience} ms: ${JSON.stringify(await this.messages())}`);
  }

  /** What the phone's owner holds at Stripe. */
  holdings(): Promise<Holdings> {
    return control('GET', this.#customer);
  }

  /** A browser that the local push service knows; its owner subscribes it. */
  subscription(publicKey: string): Promise<{ endpoint: string; keys: Record<string, string> }> {
    return control('POST', `push/${encodeURIComponent(this.number)}`, { publicKey });
  }

  /** The notices that the browsers of this phone's owner have received. */
  notices(): Promise<{ title: string; path: string }[]> {
    return control('GET', `push/${encodeURIComponent(this.number)}`);
  }

  /** Whether the saved card declines payments. */
  card(declines: boolean): Promise<unknown> {
    return control('POST', `${this.#customer}/card`, { declines });
  }

  /** Whether Stripe fails for this phone's owner. */
  async stripeFails(fails: boolean): Promise<void> {
    const { customer } = await this.holdings();
    await control('PUT', 'faults', { stripe: { match: customer['id'], ...(fails && { status: 500 }) } });
  }

  dispute(): Promise<unknown> {
    return control('POST', `${this.#customer}/dispute`);
  }

  /** Advances Stripe's clock of this phone's owner by these seconds. */
  advance(seconds: number): Promise<unknown> {
    return control('POST', 'stripe/clock', { advanceSeconds: seconds, phone: this.number });
  }

  /** The messages on the web that the bot has accepted. */
  webMessages(): Promise<{ text: string; locale: string }[]> {
    return control('GET', `bot/chat/${encodeURIComponent(this.number)}`);
  }

  /** The bot writes unprompted. */
  botWrites(text: string): Promise<unknown> {
    return control('POST', 'bot/replies', { phone: this.number, text });
  }

  /** How the bot treats the messages of this phone. */
  botMode(mode: 'answer' | 'silent' | 'refuse'): Promise<unknown> {
    return control('PUT', 'bot/mode', { mode, phone: this.number });
  }
}

async function control<T>(method: string, path: string, body?: object): Promise<T> {
  const url = `${process.env.SANDBOX_URL}/${path}`;
  const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {};
  const response = await fetch(url, { method, ...init });
  if (!response.ok) throw new Error(`${method} ${url} responded ${response.status}: ${await response.text()}`);
  return response.json() as Promise<T>;
}
