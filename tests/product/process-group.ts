import { spawn } from 'node:child_process';

/**
 * Leads the process group of one command and ends all of it when the program that asked for it is gone, however that
 * program ended: its end closes the channel between the two.
 */
const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });

child.once('exit', () => process.kill(-process.pid, 'SIGKILL'));
process.once('disconnect', endGroup);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

function endGroup(): void {
  process.kill(-process.pid, 'SIGTERM');
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), 3000);
}
