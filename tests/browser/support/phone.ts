import { randomInt } from 'node:crypto';
import { expect } from 'playwright/test';
import { callJson } from '../../product/machine.ts';

type Message = {
  from: 'user' | 'solace';
  text: string;
  code?: string;
  url?: string;
};
type Reply = { reply: string; usage: Record<string, unknown> };
type Holdings = {
  customer: Record<string, unknown>;
  subscriptions: { status: string; cancel_at_period_end: boolean }[];
};

export const hour = 3600;
export const day = 24 * hour;

let numbers = randomInt(10_000_000);

/** A number that no other test has, unless two processes begin close to each other among ten million. */
function nextNumber(): string {
  numbers = (numbers + 1) % 10_000_000;
  return `+1555${String(numbers).padStart(7, '0')}`;
}

/** A phone of the local services: its messages, what its owner holds at Stripe, and how the bot treats it. */
export class Phone {
  readonly number = nextNumber();
  readonly #id = encodeURIComponent(this.number);

  messages = () => control<Message[]>('GET', `phones/${this.#id}/messages`);
  write = (text: string) => control<Reply>('POST', `phones/${this.#id}/messages`, { text });
  /** WhatsApp hides the number from the bot, which learns a business-scoped id instead. */
  hide = () => control('PUT', `phones/${this.#id}/hidden`, { hidden: true });
  externalToken = () => control<{ token: string }>('POST', `phones/${this.#id}/external-token`, {});
  trial = (details: { tier: string; days: number; language?: string }) =>
    control<{ url: string }>('POST', `phones/${this.#id}/trial`, details);

  /** A trial that somebody who is not signed in has begun by its link. */
  async beginTrial(details: { tier: string; days: number }): Promise<void> {
    await this.write('Hi');
    const { url } = await this.trial(details);
    const trialToken = new URL(url).searchParams.get('token');
    await callJson('POST', `${process.env.SITE_URL}/auth/verify-trial-token`, { trialToken });
  }

  codes = async () => (await this.messages()).flatMap(({ code }) => code ?? []);

  /** The newest code; waits until more than `known` have arrived. */
  async code(known = 0): Promise<string> {
    const count = async () => (await this.codes()).length;
    await expect.poll(count, `a code on ${this.number}`).toBeGreaterThan(known);
    return (await this.codes()).at(-1)!;
  }

  holdings = () => control<Holdings>('GET', `stripe/customers/${this.#id}`);
  subscriptionStates = async () =>
    (await this.holdings()).subscriptions.map(({ status }) => status);
  /** Advances Stripe's clock of this phone's owner by these seconds. */
  advance = (seconds: number) =>
    control('POST', 'stripe/clock', {
      advanceSeconds: seconds,
      phone: this.number,
    });

  async stripeFails(fails: boolean): Promise<void> {
    const { customer } = await this.holdings();
    await control('PUT', 'faults', {
      stripe: { match: customer['id'], ...(fails && { status: 500 }) },
    });
  }

  /** The messages on the web that the bot has accepted. */
  webMessages = () =>
    control<
      {
        text: string;
        locale: string;
      }[]
    >('GET', `bot/chat/${this.#id}`);
  /** The bot writes unprompted. */
  botWrites = (text: string) =>
    control('POST', 'bot/replies', {
      phone: this.number,
      text,
    });
  /** The bot writes unprompted, and speaks. */
  botSpeaks = (text: string) =>
    control('POST', 'bot/replies', {
      phone: this.number,
      text,
      voice: true,
    });
  /** Whether the bot has approved this number. */
  setStatus = (status: 'approved' | 'pending') =>
    control('POST', `phones/${this.#id}/status`, { status });
  /** What becomes of the messages that WhatsApp accepts for this phone. */
  delivery = (status: 'delivered' | 'failed' | 'none') =>
    control('PUT', `phones/${this.#id}/delivery`, { status });
  /** How the bot treats the messages of this phone. */
  botMode = (mode: 'answer' | 'refuse') =>
    control('PUT', 'bot/mode', {
      mode,
      phone: this.number,
    });

  /** A browser that the local push service knows; its owner subscribes it. */
  subscription = (publicKey: string) => control<object>('POST', `push/${this.#id}`, { publicKey });
  /** The notices that the browsers of this phone's owner have received. */
  notices = () =>
    control<
      {
        title: string;
        path: string;
      }[]
    >('GET', `push/${this.#id}`);
}

/** The mails to an address of the local mail service. */
export const mailsTo = (address: string) =>
  control<
    {
      subject: string;
      text: string;
    }[]
  >('GET', `mail/${encodeURIComponent(address)}`);

const control = <T = unknown>(method: string, path: string, body?: object) =>
  callJson<T>(method, `${process.env.SANDBOX_URL}/${path}`, body);
