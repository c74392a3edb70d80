import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';

/** Debian's packages by the program or file that each brings. WebKit records and plays with those of GStreamer. */
const needed: Record<string, Record<string, string>> = {
  firefox: { 'firefox-esr': '/usr/bin/firefox-esr' },
  webkit: {
    'webkit2gtk-driver': '/usr/bin/WebKitWebDriver',
    'libwebkit2gtk-4.1-0': '/usr/lib/*/webkit2gtk-4.1/MiniBrowser',
    xvfb: '/usr/bin/Xvfb',
    xdotool: '/usr/bin/xdotool',
    'gstreamer1.0-plugins-good': '/usr/lib/*/gstreamer-1.0/libgstpulseaudio.so',
    'gstreamer1.0-plugins-bad': '/usr/lib/*/gstreamer-1.0/libgsttranscode.so',
  },
};

/** The programs of an engine, installed if they are missing and this is possible; throws with what to install. */
export function ensurePrograms(engine: keyof typeof needed): string[] {
  const files = needed[engine]!;
  const missing = () => Object.keys(files).filter((name) => globSync(files[name]!).length === 0);
  if (missing().length > 0) install(missing());
  const lacking = missing();
  if (lacking.length > 0) {
    throw new Error(
      `The tests in ${engine} need packages of Debian that could not be installed here: run ` +
        `\`sudo apt-get install ${lacking.join(' ')}\`, then run this again.`,
    );
  }
  return Object.values(files).map((pattern) => globSync(pattern)[0]!);
}

function install(packages: string[]): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  console.log(`Installing ${packages.join(', ')}…`);
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    try {
      execFileSync('apt-get', ['-qq', ...args], {
        stdio: 'ignore',
        timeout: 600_000,
      });
    } catch {
      return; // The caller names what is missing.
    }
  }
}
