export type SentEvent = { id?: string; event?: string; data?: string; comment?: string };

/** The server-sent events of a body, as they arrive. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop()!;
    yield* frames.map(parseFrame);
  }
}

function parseFrame(frame: string): SentEvent {
  const event: SentEvent = {};
  for (const line of frame.split('\n')) {
    if (line.startsWith(':')) event.comment = line.slice(1).trim();
    if (line.startsWith('event: ')) event.event = line.slice(7);
    if (line.startsWith('id: ')) event.id = line.slice(4);
    if (line.startsWith('data: ')) event.data = line.slice(6);
  }
  return event;
}
