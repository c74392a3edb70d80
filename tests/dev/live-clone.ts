import { spawn, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../product/machine.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Copies the tree, so that edits and mistakes reach no other test; it shares the packages. */
export function cloneTree() {
  const folder = mkdtempSync(join(tmpdir(), 'solace-clone-'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of listed.split('\n').filter((each) => each && existsSync(join(root, each)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return {
    folder,
    read,
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    /** Replaces a text that the file must have. */
    edit(file: string, from: string, to: string): void {
      const text = read(file);
      if (!text.includes(from)) throw new Error(`${file} does not have ${from}`);
      writeFileSync(join(folder, file), text.replace(from, to));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

type Run = {
  folder: string;
  script?: 'dev' | 'preview';
  env?: Record<string, string>;
  /** What runs npm, and is run by nothing. */
  through?: string[];
};

/** Runs `npm run dev` as a person does, on free ports; its output is kept line by line. */
export async function runProduct({ folder, script = 'dev', env = {}, through = [] }: Run) {
  const port = await freePort(0, 'PORT');
  const sandboxPort = await freePort(0, 'SANDBOX_PORT');
  const mark = `SOLACE_RUN=${randomUUID()}`;
  const command = [...through, 'npm', 'run', '--silent', script];
  const child = spawn(command[0]!, command.slice(1), {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PORT: String(port),
      SANDBOX_PORT: String(sandboxPort),
      SOLACE_RUN: mark.split('=')[1],
      ...env,
    },
  });
  const lines: string[] = [];
  const heard = new Set<() => void>();
  for (const input of [child.stdout, child.stderr])
    createInterface(input).on('line', (line) => {
      lines.push(line);
      for (const check of heard) check();
    });
  const ended = once(child, 'exit');

  /** Resolves when a line of the output from the given one on matches. */
  const said = (pattern: RegExp, from = 0) =>
    new Promise<string>((resolve, reject) => {
      const check = () => {
        const line = lines.slice(from).find((each) => pattern.test(each));
        if (line === undefined) return;
        heard.delete(check);
        resolve(line);
      };
      heard.add(check);
      check();
      void ended.then(() => reject(new Error(`It ended.\n${lines.join('\n')}`)));
    });

  return {
    siteUrl: `http://localhost:${port}`,
    sandboxUrl: `http://localhost:${sandboxPort}`,
    pid: child.pid!,
    /** The ids of all its processes that run, whoever their parents are. */
    processes: () => processesWith(mark),
    lines,
    said,
    ready: () => said(/^Ready on /),
    ended,
    /** What Ctrl-C in a terminal does. */
    async interrupt(): Promise<void> {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT');
      await ended;
    },
  };
}

/** The ids of the running processes whose environment has a line. */
function processesWith(line: string): number[] {
  const ids = readdirSync('/proc').map(Number).filter(isAlive);
  return ids.filter((id) => {
    try {
      return readFileSync(`/proc/${id}/environ`, 'utf8').split('\0').includes(line);
    } catch {
      return false; // It has ended meanwhile.
    }
  });
}

/** The ids of a process and of everything that it started, directly or not. */
export function processesOf(pid: number): number[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = [pid];
  for (const parent of found)
    for (const [child, of] of rows) if (of === parent && child !== undefined) found.push(child);
  return found;
}

/** Whether a process runs; one that has ended and that nobody has waited for does not. */
export function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

/** Lines that nobody expects of a command which has been stopped. */
export const surprises = ({ lines }: { lines: string[] }) =>
  lines.filter((line) => line && !/^(Building and starting|Ready on|Phones, bot)/.test(line));
