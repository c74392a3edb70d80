import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { repeat, type Attack } from './attack.ts';

const slowReaders = 12;

/** Opens usage streams without reading them. */
export async function readSlowly(attack: Attack): Promise<void> {
  const { attacker, ended, site } = attack;
  const path = `/api/user/usage-stream?token=${encodeURIComponent(attacker.token!)}`;
  const sockets = Array.from({ length: slowReaders }, () => open(site.url));
  for (const socket of sockets) {
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${new URL(site.url).host}\r\n\r\n`);
  }
  if (!ended.aborted) await once(ended, 'abort');
  for (const socket of sockets) socket.destroy();
}

/** Disconnects after half of a request, or before the response. */
export async function hangUp(attack: Attack): Promise<void> {
  const { attacker, choices, site } = attack;
  const head = (path: string, length: number) =>
    `POST ${path} HTTP/1.1\r\nhost: ${new URL(site.url).host}\r\nauthorization: Bearer ${attacker.token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  await repeat(attack, 150, async () => {
    const socket = open(site.url);
    const half = head('/api/auth/request-otp', 200) + '{"phone":';
    const whole = `${head('/api/user/stream-ticket', 2)}{}`;
    socket.write(choices.chance(0.5) ? half : whole);
    await new Promise((resolve) => setTimeout(resolve, choices.between(1, 60)));
    socket.destroy();
  });
}

function open(url: string): Socket {
  const { port } = new URL(url);
  // The Worker may be restarting: nothing depends on these connections.
  return connect(Number(port), '127.0.0.1').on('error', () => undefined);
}
