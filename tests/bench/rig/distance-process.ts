import { connect, createServer, type Socket } from 'node:net';

type Order = { port: number; target: number; roundTripMs: number };

/** Passes bytes on to a port of this machine, each half of the round trip later, as a distant server would see them. */
process.once('message', ({ port, target, roundTripMs }: Order) => {
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    passLate(near, far, roundTripMs / 2);
    passLate(far, near, roundTripMs / 2);
  });
  server.listen(port, '127.0.0.1', () => process.send!('ready'));
});
process.once('disconnect', () => process.exit());

/** Timers of the same length fire in their order, so no chunk overtakes another. */
function passLate(from: Socket, to: Socket, delayMs: number): void {
  from.setNoDelay(true);
  from.on('data', (chunk: Buffer) => setTimeout(() => to.write(chunk), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
  from.on('error', () => to.destroy());
}
