import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Running } from './workerd.ts';

const program = fileURLToPath(new URL('distance-process.ts', import.meta.url));

/** A proxy on `port` that adds this latency (ms) to the server on `target`; ends with this process. */
export async function startDistance(port: number, target: number, roundTripMs: number): Promise<Running> {
  const child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  child.send({ port, target, roundTripMs });
  const exit = once(child, 'exit');
  await Promise.race([
    once(child, 'message'),
    exit.then(() => {
      throw new Error(`The proxy on port ${port} ended`);
    }),
  ]);
  const stop = async () => {
    if (child.connected) child.disconnect();
    await exit;
  };
  return { url: `http://127.0.0.1:${port}`, pid: child.pid!, stop };
}
