/** The owner of the stream behind a socket. */
export type StreamOwner = { userId: string; sessionId: string };
type Attachment = StreamOwner & { order: number };
type OpenStream = Attachment & { socket: WebSocket };

/** The close code of a stream that a newer one replaced. */
export const replacedCode = 4001;
const streamsPerUser = 10;

/** The streams of a Durable Object's user, oldest first; socket attachments survive hibernation. */
export function openStreams(ctx: DurableObjectState): OpenStream[] {
  return ctx
    .getWebSockets()
    .filter(({ readyState }) => readyState === WebSocket.OPEN)
    .flatMap((socket) => {
      const attachment: Attachment | null = socket.deserializeAttachment();
      return attachment ? [{ socket, ...attachment }] : [];
    })
    .toSorted((one, other) => one.order - other.order);
}

/** Counts a socket as an open stream and closes the oldest ones beyond the limit. */
export function admitStream(ctx: DurableObjectState, socket: WebSocket, { userId, sessionId }: StreamOwner): void {
  const order = (openStreams(ctx).at(-1)?.order ?? 0) + 1;
  socket.serializeAttachment({ userId, sessionId, order } satisfies Attachment);
  const oldest = openStreams(ctx).slice(0, -streamsPerUser);
  for (const each of oldest) each.socket.close(replacedCode);
}
