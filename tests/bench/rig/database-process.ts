import type { SandboxSettings } from '../../sandbox/setup.ts';
import { startSandbox } from '../../sandbox/start.ts';

/** The local services in a process of their own, so that they share no event loop with the caller that measures. */
process.once('message', (order: Omit<SandboxSettings, 'siteUrl'>) => {
  void startSandbox({ ...order, siteUrl: 'http://127.0.0.1:9' }).then(() => process.send!('ready'));
});
process.once('disconnect', () => process.exit());
