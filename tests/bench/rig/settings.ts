import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addresses, refreshVars } from '../../product/vars.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const stateDir = join(root, '.wrangler/bench');

const firstPort = Number(process.env.BENCH_PORT ?? 8960);

/** Twenty ports of this machine alone; `BENCH_PORT` moves the first. */
export const ports = {
  solace: firstPort,
  bare: firstPort + 1,
  database: firstPort + 2,
  distance: firstPort + 5,
  growth: firstPort + 10,
};

/** The settings of a Worker with its database on the port; the local services and the caller share the secrets. */
export function settingsFor(databasePort: number) {
  // Without the keys of the notices, which no user of the benchmarks has subscribed to.
  const { VAPID_KEYS: _keys, ...vars } = refreshVars(
    join(stateDir, 'vars'),
    addresses(ports.solace, databasePort),
  );
  return {
    ...vars,
    // So high that no measured call is refused: few users call repeatedly.
    LIMIT_CALLS_PER_USER: '100000/1m',
    LIMIT_CODES_PER_NUMBER: '100000/1d',
    LIMIT_CODES_PER_NUMBER_HARD: '100000/1d',
    CODE_BUDGET_PER_DAY: '1000000',
    CHAT_MESSAGES_PER_MINUTE: '99999',
    CHAT_MESSAGES_WAITING: '99999',
  };
}
