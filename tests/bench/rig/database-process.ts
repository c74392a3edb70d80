import type { SandboxSecrets } from '../../sandbox/services.ts';
import { startSandbox } from '../../sandbox/start.ts';

type Order = { port: number; stateDir: string; secrets: SandboxSecrets };

/** The local services in a process of their own, so that they share no event loop with the caller that measures. */
process.once('message', (order: Order) => {
  void startSandbox({ ...order, siteUrl: 'http://127.0.0.1:9' }).then(() => process.send!('ready'));
});
process.once('disconnect', () => process.exit());
