// The project runs TypeScript without a build, which Node does from 22.18 on. The optional packages `node-*` bring such
// a Node for each platform, and npm puts it first in the PATH of every script. Where a registry lacks them, the Node of
// the machine has to do. npm 10 installs the package and then removes its link in node_modules/.bin, because those of
// the other platforms have a command of the same name (npm 11 keeps it), so the link is made here.
// `node .ci/require-node.js [program]` runs the program; this file itself has to run on Node 14.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

if (!process.features.typescript) useInstalledNode();
else if (process.argv.length > 2) await run();

/** As if Node had been called with the program itself. */
function run() {
  process.argv.splice(1, 2, resolve(process.argv[2]));
  return import(pathToFileURL(process.argv[1]).href);
}

function useInstalledNode() {
  const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
  const folders = existsSync(modules) ? readdirSync(modules) : [];
  const name = folders.find(
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
