// The project runs TypeScript without a build, which Node does from 22.18 on. The optional packages `node-*` bring such
// a Node for each platform, and npm puts it first in the PATH of every script. Where a registry lacks them, the Node of
// the machine has to do. npm 10 installs the package and then removes its link in node_modules/.bin, because those of
// the other platforms have a command of the same name (npm 11 keeps it), so the link is made here.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

if (!process.features.typescript) useInstalledNode();

function useInstalledNode() {
  const modules = join(import.meta.dirname, '../node_modules');
  const name = readdirSync(modules).find(
    (folder) => folder.startsWith('node-') && existsSync(join(modules, folder, 'bin/node')),
  );
  if (!name) {
    process.stderr.write(
      `Solace needs Node 22.18 or newer, and this is ${process.version}. No package brought Node for ${process.platform} ${process.arch}: install Node 24, then run this again.\n`,
    );
    process.exit(1);
  }
  const link = join(modules, '.bin/node');
  rmSync(link, { force: true });
  symlinkSync(join('..', name, 'bin/node'), link);
  const { status } = spawnSync(link, process.argv.slice(1), { stdio: 'inherit' });
  process.exit(status ?? 1);
}
