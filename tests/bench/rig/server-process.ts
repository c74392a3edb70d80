import { connect, createServer, type Socket } from 'node:net';
import type { SandboxSettings } from '../../sandbox/setup.ts';
import { startSandbox } from '../../sandbox/start.ts';

type Distance = {
  port: number;
  target: number;
  roundTripMs: number;
};

/** The local services, or the distance to them, in a process of its own, so that it shares no event loop with the caller that measures. */
process.once('message', (order: Omit<SandboxSettings, 'siteUrl'> | Distance) => {
  const ready = () => process.send!('ready');
  if ('target' in order) serveLate(order, ready);
  else
    void startSandbox({
      ...order,
      siteUrl: 'http://127.0.0.1:9',
    }).then(ready);
});
process.once('disconnect', () => process.exit());

/** Passes bytes on to a port of this machine, each half of the round trip later, as a distant server would see them. */
function serveLate({ port, target, roundTripMs }: Distance, ready: () => void): void {
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    passLate(near, far, roundTripMs / 2);
    passLate(far, near, roundTripMs / 2);
  });
  server.listen(port, '127.0.0.1', ready);
}

/** Timers of the same length fire in their order, so no chunk overtakes another. */
function passLate(from: Socket, to: Socket, delayMs: number): void {
  from.setNoDelay(true);
  from.on('data', (chunk: Buffer) => setTimeout(() => to.write(chunk), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
  from.on('error', () => to.destroy());
}
