import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright';

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Chromium's sandbox needs a user other than root; the other flags disable its background requests. */
export const browserArguments = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];

/** One process renders the pages of all tests, so that it compiles a script once: a page costs a sixth less. */
export const journeyArguments = [
  ...browserArguments,
  '--renderer-process-limit=1',
  // Pictures are drawn by this process: a tenth of the processor time less.
  '--in-process-gpu',
  '--disable-gpu',
  '--disable-site-isolation-trials',
];

/** A browser for journeys: Playwright's own where it can be downloaded, else the system's, which is installed if need be. */
export function ensureHeadlessBrowser(): string {
  // Without a window's parts, journeys take a fifth less time.
  const paths = ['/usr/bin/chromium-headless-shell', chromium.executablePath(), ...browsers];
  return findBrowser(paths, installers(['chromium-headless-shell', 'chromium']));
}

/** A whole browser, for measurements. */
export function ensureBrowser(): string {
  return findBrowser([chromium.executablePath(), ...browsers], installers(['chromium']));
}

/** `packages` are Debian's. */
const installers = (packages: string[]) => [
  () => run('npx', ['playwright', 'install', 'chromium'], 120_000),
  () => run('apt-get', ['update', '-qq'], 120_000),
  ...packages.map((name) => () => run('apt-get', ['install', '-y', '-qq', name], 600_000)),
];

/** `CHROMIUM_PATH`, or the first of the paths that exists, after as many installers as that takes. Throws if none does. */
export function findBrowser(
  paths: string[],
  install: (() => void)[],
  chosen = process.env['CHROMIUM_PATH'],
): string {
  if (chosen && existsSync(chosen)) return chosen;
  if (chosen)
    throw new Error(
      `CHROMIUM_PATH is ${chosen}, where there is no browser: correct it, or unset it.`,
    );
  for (const attempt of [() => {}, ...install]) {
    attempt();
    const found = paths.find((path) => existsSync(path));
    if (found) return found;
  }
  throw new Error(
    'The browser tests need Chromium, and it could not be installed: connect to the network and run `npx playwright install chromium`, or set CHROMIUM_PATH.',
  );
}

function run(command: string, args: string[], timeout: number): void {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout });
  } catch {
    return; // The next attempt may succeed.
  }
}
