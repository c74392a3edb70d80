import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findBrowser } from '../browser/browser.ts';
import { messageOf, requireDiskSpace } from '../product/machine.ts';
import { listen } from '../sandbox/start.ts';

const programs = { 'npm run dev': 'tests/product/dev.ts', 'npm test': 'tests/runner/all.ts' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'solace-problems-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs Node until it ends, in a process group of its own; tells whether the group has left a process behind. */
async function run(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], ...env }, detached: true });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => output.push(data.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, lines: output.join('').trim().split('\n'), leftBehind: isGroup(child.pid!) };
}

function isGroup(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

describe('a port in use', () => {
  it.each(['PORT', 'SANDBOX_PORT'])('is named by npm run dev, with the setting %s', async (setting) => {
    const taken = await listen(0);
    onTestFinished(() => taken.close());
    // The other one is free: 0 is no port for this command.
    const other = await listen(0);
    await other.close();
    const ports = { PORT: String(other.port), SANDBOX_PORT: String(other.port + 1), [setting]: String(taken.port) };
    const { code, lines, leftBehind } = await run(['.ci/require-node.js', programs['npm run dev']], ports);
    expect({ code, leftBehind }).toEqual({ code: 1, leftBehind: false });
    expect(lines.at(-1)).toBe(
      `Port ${taken.port} is taken by another program. Choose another one with ${setting}, for example ${setting}=${taken.port + 10}.`,
    );
  });
});

describe('an old Node', () => {
  it.each(Object.entries(programs))('is named by %s, with the one to install', async (_, program) => {
    mkdirSync(join(folder, 'node_modules'));
    cpSync('.ci', join(folder, '.ci'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const withoutTypeScript = [
      process.allowedNodeEnvironmentFlags.has('--no-strip-types')
        ? '--no-strip-types'
        : '--no-experimental-strip-types',
    ];
    const { code, lines, leftBehind } = await run([...withoutTypeScript, join(folder, '.ci/require-node.js'), program]);
    expect({ code, leftBehind }).toEqual({ code: 1, leftBehind: false });
    expect(lines).toEqual([
      expect.stringMatching(
        /^Solace needs Node 22\.18 or newer, and this is v[\d.]+\. .*: install Node 24, then run this again\.$/,
      ),
    ]);
  });
});

describe('a missing browser', () => {
  it('is named by npm test before anything starts', async () => {
    const { code, lines, leftBehind } = await run(['.ci/require-node.js', programs['npm test']], {
      CHROMIUM_PATH: '/nowhere/chromium',
    });
    expect({ code, leftBehind }).toEqual({ code: 1, leftBehind: false });
    expect(lines).toEqual(['CHROMIUM_PATH is /nowhere/chromium, where there is no browser: correct it, or unset it.']);
  });

  it('that no network can bring is named after every installer has failed', () => {
    const tried: string[] = [];
    const install = ['npx', 'apt-get'].map((name) => () => void tried.push(name));
    expect(() => findBrowser([join(folder, 'chromium')], install, '')).toThrow(
      /^The browser tests need Chromium, and it could not be installed: connect to the network and run `npx playwright install chromium`/,
    );
    expect(tried).toEqual(['npx', 'apt-get']);
  });

  it('is installed by the first installer that can', () => {
    const path = join(folder, 'chromium');
    const refuse = () => expect.unreachable('installs once');
    expect(findBrowser([path], [() => {}, () => writeFileSync(path, ''), refuse], '')).toBe(path);
  });
});

describe('a full disk', () => {
  /** Only root can make a small disk, and not in every container. */
  const small = canMount();

  it.runIf(small)('is named before anything starts, and when it becomes full', () => {
    mount(folder);
    try {
      expect(() => requireDiskSpace(folder)).toThrow(/^The disk has \d MiB left, and Solace needs 500 MiB: remove/);
      const write = () => writeFileSync(join(folder, 'database'), Buffer.alloc(4 * 2 ** 20));
      expect(write).toThrow('ENOSPC');
      expect(messageOf(thrownBy(write))).toMatch(/^The disk is full: remove what you do not need/);
    } finally {
      execFileSync('umount', [folder]);
    }
  });

  it('is named with the space that is needed', () => {
    expect(() => requireDiskSpace(folder, 2 ** 40)).toThrow(
      /^The disk has \d+ MiB left, and Solace needs \d+ MiB: remove/,
    );
    expect(() => requireDiskSpace(folder, 0)).not.toThrow();
  });

  it.each(['ENOSPC: no space left on device, write', 'SQLITE_FULL: database or disk is full'])(
    'is recognised in %s',
    (message) => {
      expect(messageOf(new Error(message))).toMatch(/^The disk is full: remove/);
      expect(messageOf(new Error('another error'))).toBe('another error');
    },
  );
});

function mount(at: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', at], { stdio: 'ignore' });
}

function canMount(): boolean {
  const at = mkdtempSync(join(tmpdir(), 'solace-mount-'));
  try {
    mount(at);
    execFileSync('umount', [at]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(at, { recursive: true });
  }
}

function thrownBy(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
