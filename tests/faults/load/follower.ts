import { readMessage } from '../../../web/rules/stream-events.ts';
import { readEvents } from '../../api/support/read-events.ts';
import type { OpenTab, Person } from '../person.ts';
import { openStream, ReconnectingStream } from '../reconnecting-stream.ts';
import type { World } from '../world.ts';

/** A tab with an open usage stream. */
export class Follower implements OpenTab {
  /** The last total that the stream sent; undefined while the stream is not open. */
  total: number | undefined;
  readonly stream: ReconnectingStream;
  readonly #world: World;
  readonly #person: Person;

  constructor(world: World, person: Person) {
    this.#world = world;
    this.#person = person;
    this.stream = new ReconnectingStream((signal, opened) =>
      this.#connect(signal, opened).finally(() => (this.total = undefined)),
    );
  }

  async #connect(signal: AbortSignal, opened: () => void): Promise<void> {
    const request = { name: 'stream opened', path: '/api/user/usage-stream' };
    const body = await openStream(this.#world, this.#person, request, signal);
    if (!body) return;
    opened();
    for await (const { event, data } of readEvents(body)) {
      const message = event || !data ? null : readMessage(data);
      if (message?.type === 'usageUpdate') this.total = message.count;
    }
  }
}
