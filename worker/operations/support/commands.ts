import { erase } from './commands/erase.ts';
import { exportUser } from './commands/export-user.ts';
import { find } from './commands/find.ts';
import { outbox } from './commands/outbox.ts';
import { release } from './commands/release.ts';
import { sync } from './commands/sync.ts';
import { trial } from './commands/trial.ts';
import type { SupportCommand } from './support-command.ts';

/** Every command of `npm run support`, by its name. */
export const supportCommands: Record<string, SupportCommand> = {
  find,
  trial,
  sync,
  release,
  outbox,
  export: exportUser,
  erase,
};
