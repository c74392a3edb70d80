/** `code` is the close code of the object; 1006 if the connection was lost. */
type Receiver<Message> = { receive: (message: Message) => void; ended: (code: number) => void };

const gone = 1006;
/** With a ping every 20 s a dead connection is noticed within 25 s. */
const pongWithinMs = 5000;

/** A Worker's socket to a Durable Object. Buffers messages until `listen` is called, so that none is lost. */
export class ObjectSocket<Message> {
  readonly #socket: WebSocket;
  #early: Message[] = [];
  #ended: number | undefined;
  #receiver: Receiver<Message> | undefined;
  #pongTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#arrived(data));
    socket.addEventListener('close', ({ code }) => this.#end(code));
    socket.addEventListener('error', () => this.#end(gone));
    socket.accept();
  }

  /** Opens a socket to an object; null if the object cannot be reached. */
  static async join<Message>(object: Fetcher, query: URLSearchParams): Promise<ObjectSocket<Message> | null> {
    const response = await object
      .fetch(`https://object/?${query.toString()}`, { headers: { upgrade: 'websocket' } })
      .catch(() => null);
    return response?.webSocket ? new ObjectSocket<Message>(response.webSocket) : null;
  }

  listen(receiver: Receiver<Message>): void {
    this.#receiver = receiver;
    for (const message of this.#early) receiver.receive(message);
    this.#early = [];
    if (this.#ended !== undefined) receiver.ended(this.#ended);
  }

  send(text: string): void {
    if (this.#ended !== undefined) return;
    try {
      this.#socket.send(text);
    } catch {
      this.#lose();
    }
  }

  ping(): void {
    this.send('ping');
    this.#pongTimer ??= setTimeout(() => this.#lose(), pongWithinMs);
  }

  close(): void {
    this.#clearPongTimer();
    if (this.#ended === undefined) this.#socket.close(1000);
    this.#ended ??= 1000;
  }

  #arrived(data: unknown): void {
    if (data === 'pong') return this.#clearPongTimer();
    if (typeof data !== 'string') return;
    const message: Message = JSON.parse(data);
    if (this.#receiver) this.#receiver.receive(message);
    else this.#early.push(message);
  }

  /** The other end has closed the socket. */
  #lose(): void {
    this.#socket.close(1000);
    this.#end(gone);
  }

  #end(code: number): void {
    this.#clearPongTimer();
    if (this.#ended !== undefined) return;
    this.#ended = code;
    this.#receiver?.ended(code);
  }

  #clearPongTimer(): void {
    clearTimeout(this.#pongTimer);
    this.#pongTimer = undefined;
  }
}
