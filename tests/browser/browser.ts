import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright';

const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Chromium's sandbox needs a user other than root; the other flags disable its background requests. */
export const browserArguments = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];

/** The installed browser: Playwright's own, else the system's. */
function findBrowser(): string | undefined {
  return [chromium.executablePath(), ...system].find((path) => existsSync(path));
}

/** Finds a browser or installs one: Playwright's own where it can be downloaded, else Debian's. */
export function ensureBrowser(): string {
  const attempts = [
    () => {},
    () => run('npx', ['playwright', 'install', 'chromium'], 120_000),
    () => run('apt-get', ['update', '-qq'], 120_000) && run('apt-get', ['install', '-y', '-qq', 'chromium'], 600_000),
  ];
  for (const attempt of attempts) {
    attempt();
    const found = findBrowser();
    if (found) return found;
  }
  throw new Error(
    'The browser tests need Chromium: run `npx playwright install chromium`, or install it as root by apt-get.',
  );
}

function run(command: string, args: string[], timeout: number): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout });
    return true;
  } catch {
    return false;
  }
}
