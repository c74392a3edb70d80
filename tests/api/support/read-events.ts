import { EventSourceParserStream } from 'eventsource-parser/stream';

/** The server-sent events of a body, as they arrive. */
export const readEvents = (body: ReadableStream<Uint8Array<ArrayBuffer>>) =>
  body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
