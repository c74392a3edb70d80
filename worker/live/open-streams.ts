import type { SessionRef } from '../identity/user-session.ts';
import { replacedCode } from './live-changes.ts';

/** `serializeAttachment` keeps this through hibernation. `order` counts admitted streams; 0 before admission. */
type Attachment = SessionRef & { order: number };
export type OpenStream = Attachment & { socket: WebSocket };

const streamsPerUser = 10;

export function attachSession(socket: WebSocket, { userId, sessionId }: SessionRef): void {
  socket.serializeAttachment({
    userId,
    sessionId,
    order: 0,
  } satisfies Attachment);
}

export function openStreams(sockets: WebSocket[]): OpenStream[] {
  return sockets
    .filter(isOpen)
    .flatMap((socket) => {
      const attachment: Attachment | null = socket.deserializeAttachment();
      return attachment?.order ? [{ socket, ...attachment }] : [];
    })
    .toSorted((one, other) => one.order - other.order);
}

export function admit(socket: WebSocket, session: SessionRef, sockets: () => WebSocket[]): void {
  const newest = openStreams(sockets()).at(-1);
  const order = (newest?.order ?? 0) + 1;
  socket.serializeAttachment({ ...session, order } satisfies Attachment);

  const beyond = openStreams(sockets()).slice(0, -streamsPerUser);
  for (const oldest of beyond) oldest.socket.close(replacedCode);
}

export function closeStreams(sockets: WebSocket[], sessionId: string | null): void {
  for (const socket of sockets) {
    const attachment: Attachment | null = socket.deserializeAttachment();
    if (sessionId === null || attachment?.sessionId === sessionId) socket.close(1000);
  }
}

export function isOpen({ readyState }: WebSocket): boolean {
  return readyState === WebSocket.OPEN;
}
