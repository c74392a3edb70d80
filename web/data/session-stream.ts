import type { ChatStreamEvent } from '#contract/chat-schemas';
import { isUsage, readEvent, readOpening, probeInterval } from '../rules/stream-events.ts';
import { requestAs } from './api-client.ts';
import { connectionState, StreamReader, type StreamName } from './event-stream.ts';
import { fetchProfile, keepStreamProfile, refetchProfile } from './profile-query.ts';
import { session } from './session.ts';
import { signsOfLife } from './signs-of-life.ts';

/** A page of the conversation, whose stream brings the usage, too. */
type ConversationPage = {
  token: string;
  revision: () => number;
  onEvent: (event: ChatStreamEvent, revision: number | null) => void;
  read: () => void;
};

/** The one stream of a user: of the usage, or of the conversation after it was read. */
class SessionStream {
  #open: { token: string; name: StreamName; reader: StreamReader } | null = null;
  #page: ConversationPage | null = null;
  /** Whether a page of the conversation will open its own stream. */
  #expectsPage = () => false;

  start(expectsPage: () => boolean): void {
    this.#expectsPage = expectsPage;
    const reconnect = () => this.reconnect();

    session.subscribe(() => this.#follow());
    document.addEventListener('visibilitychange', () => {
      if (isVisible()) reconnect();
    });
    addEventListener('pageshow', reconnect);
    addEventListener('online', reconnect);
    signsOfLife.subscribe(() => this.#open?.reader.noteConnection());

    this.#probeRegularly();
    this.#follow();
  }

  /** Connects again, unless the stream is known to be alive. */
  reconnect(): void {
    this.#open?.reader.reconnect();
  }

  /** Opens the conversation's stream until the returned function is called. */
  followConversation(page: ConversationPage): () => void {
    this.#page = page;
    this.#follow();
    return () => {
      if (this.#page === page) this.#page = null;
      this.#follow();
    };
  }

  /** Asks the server every 60 to 90 s while the stream of a visible page has ended. */
  #probeRegularly(): void {
    setTimeout(() => {
      if (isVisible() && connectionState.get().status === 'lost') void this.#probe();
      this.#probeRegularly();
    }, probeInterval(Math.random()));
  }

  /** Asks the server once; a response begins a new series, unless the stream was replaced. */
  async #probe(): Promise<void> {
    if (!this.#open) return;
    const response = await requestAs(this.#open.token, 'getMe').catch(() => null);
    if (response && connectionState.get().status === 'lost') this.#readByCall();
  }

  #readByCall(): void {
    if (this.#open?.name === 'chatStream') this.#page?.read();
    else if (this.#open) void fetchProfile({ inBackground: true });
  }

  #follow(): void {
    const { token, user } = session.get();
    const wanted = user !== null && user.status !== 'pending' ? token : null;
    const name = this.#page?.token === wanted ? 'chatStream' : 'usageStream';
    if (this.#open?.token === wanted && this.#open?.name === name) return;
    this.#open?.reader.close();
    this.#open = null;
    if (wanted && (name === 'chatStream' || !this.#expectsPage()))
      this.#open = { token: wanted, name, reader: this.#read(wanted, name) };
  }

  #read(token: string, name: StreamName): StreamReader {
    const isChat = name === 'chatStream';
    return new StreamReader({
      token,
      name,
      query: () => (isChat ? { after: String(this.#page?.revision() ?? 0) } : {}),
      onOpen(data) {
        const profile = readOpening(data);
        if (profile) keepStreamProfile(token, profile);
        else void refetchProfile();
      },
      onMessage: (data, id) => this.#take(data, id),
      onSilence: () => this.#readByCall(),
    });
  }

  #take(data: string, id: string): void {
    const event = readEvent(data);
    if (!event) return;
    if (!isUsage(event)) this.#page?.onEvent(event, /^\d+$/.test(id) ? Number(id) : null);
    else if (event.type === 'usageUpdate') setCount(event.count);
    else void refetchProfile();
  }
}

export const sessionStream = new SessionStream();

const isVisible = () => document.visibilityState === 'visible';

function setCount(count: number): void {
  session.setMessagesUsed(count);
  connectionState.addCount();
}
