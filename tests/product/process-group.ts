import { spawn } from 'node:child_process';

/**
 * Runs one command in its own process group and ends the group when the parent has ended in any way, which closes the
 * IPC channel between the two.
 */
const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });

child.once('exit', () => process.kill(-process.pid, 'SIGKILL'));
process.once('disconnect', endGroup);
// The parent may have ended while this file was being loaded.
if (!process.connected) endGroup();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

/** The rest ends with the command, which would report what ended before it. */
function endGroup(): void {
  child.kill();
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), 3000);
}
