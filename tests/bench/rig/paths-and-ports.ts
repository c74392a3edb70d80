import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The folder of all files that a run leaves. */
export const stateDir = join(root, '.wrangler/bench');

const firstPort = Number(process.env.BENCH_PORT ?? 8960);

/** Twenty ports of this machine alone; `BENCH_PORT` moves the first. */
export const ports = {
  solace: firstPort,
  bare: firstPort + 1,
  database: firstPort + 2,
  site: firstPort + 3,
  blank: firstPort + 4,
  distance: firstPort + 5,
  /** One Worker and one database for each size. */
  growth: firstPort + 10,
};
