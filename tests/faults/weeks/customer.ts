import { randomUUID } from 'node:crypto';
import type { Choices } from '../choices.ts';
import type { Rig } from '../rig.ts';
import type { Answer, Json, Site } from '../site.ts';

/** The shared state of all simulated customers. */
export type Simulation = { rig: Rig; site: Site; counts: Map<string, number>; seen: string[] };

/** A simulated customer. */
export class Customer {
  readonly phone: string;
  readonly choices: Choices;
  token = '';
  left = false;
  /** Allowed messages by the end of their week. */
  readonly allowed = new Map<string, number>();
  readonly #simulation: Simulation;

  constructor(index: number, choices: Choices, simulation: Simulation) {
    this.phone = `+1555${String(2_000_000 + index)}`;
    this.choices = choices;
    this.#simulation = simulation;
  }

  async arrive(): Promise<void> {
    const { rig, site } = this.#simulation;
    await site.bot('contact', '/api/bot/contacts', randomUUID(), { phone: this.phone });
    const { token } = await rig.control('POST', `${this.path('phones')}/external-token`, {});
    const { body } = await site.call('sign in', 'POST', '/api/auth/verify-external-token', { body: { token } });
    this.token = String(body.token);
  }

  call(kind: string, method: string, path: string, body?: object): Promise<Answer> {
    return this.#simulation.site.call(kind, method, path, { token: this.token, ...(body && { body }) });
  }

  /** A control call of the local Stripe about this customer; null when it refuses. */
  stripe(what: string, body?: object): Promise<Json | null> {
    return this.#simulation.rig.control('POST', `${this.path('stripe/customers')}/${what}`, body).catch(() => null);
  }

  async post(count: number): Promise<void> {
    const body = { phone: this.phone, count };
    const { body: usage } = await this.#simulation.site.bot('usage', '/api/bot/usage', randomUUID(), body);
    if (usage.allowed) this.allowed.set(usage.resetsAt, (this.allowed.get(usage.resetsAt) ?? 0) + count);
  }

  path(collection: string): string {
    return `/${collection}/${encodeURIComponent(this.phone)}`;
  }

  count(what: string): void {
    const { counts } = this.#simulation;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
}
