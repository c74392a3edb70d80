import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingNames, type runChecks } from '../doctor/run-checks.ts';
import type { Target, Values } from '../owner-command.ts';
import { lineOf, httpRequest } from '../doctor/doctor-finding.ts';
import { problemsOutside } from '../doctor/deployed-site.ts';
import type { CallerSecrets } from '../doctor/signed-calls.ts';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';

export function publishVersion(
  wrangler: Wrangler,
  target: Target,
  values: Values,
): Promise<WranglerRun> {
  return withSettings(values, (file) =>
    wrangler(['deploy', ...versionFlags(target, file), ...domain(values)], {
      env: buildEnvironment(values),
    }),
  );
}

export function upload(wrangler: Wrangler, target: Target, values: Values): Promise<WranglerRun> {
  return withSettings(values, (file) =>
    wrangler(['versions', 'upload', ...versionFlags(target, file)], {
      env: buildEnvironment(values),
    }),
  );
}

async function withSettings<T>(values: Values, run: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'solace-deploy-'));
  const file = join(folder, 'settings.json');
  try {
    writeFileSync(file, JSON.stringify(settingsIn(values)), { mode: 0o600 });
    return await run(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function versionFlags(target: Target, file: string): string[] {
  return ['--env', target, '--secrets-file', file, '--message', version()];
}

function settingsIn(values: Values): Values {
  return Object.fromEntries(
    settingNames.flatMap((name) => (values[name] ? [[name, values[name]]] : [])),
  );
}

/** An address under workers.dev needs no route. */
function domain({ SITE_URL = '' }: Values): string[] {
  const { hostname } = new URL(SITE_URL);
  return hostname.endsWith('.workers.dev') ? [] : ['--domain', hostname];
}

/**
 * wrangler runs the build, which writes the contact
 * address and the days of withdrawal into the pages.
 */
function buildEnvironment({ CONTACT_URL, WITHDRAWAL_DAYS = '' }: Values): NodeJS.ProcessEnv {
  const contact = CONTACT_URL && { VITE_CONTACT_URL: CONTACT_URL };
  return { ...process.env, WITHDRAWAL_DAYS, ...contact };
}

/**
 * The commit, or the version of package.json and
 * the time if the sources have no git history.
 */
export function version(folder = root): string {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: [...stdio],
    }).trim();
  } catch {
    const { version: number }: { version: string } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    return `${number} of ${new Date().toISOString().slice(0, 16)}`;
  }
}

type Tools = { runChecks: typeof runChecks; say: (line: string) => void };

export type Allowed = { withoutContact?: boolean; isPaused?: boolean };

export async function isReady(
  target: Target,
  values: Values,
  { runChecks, say }: Tools,
  allowed: Allowed,
) {
  const { withoutContact = false, isPaused = false } = allowed;
  if (target === 'production' && !values['CONTACT_URL'] && !withoutContact) {
    say(
      '✗ CONTACT_URL is missing: messages from the contact form would go nowhere. Set it, or say --without-contact.',
    );
    return false;
  }
  const findings = await runChecks(values, {
    target,
    mayBeBehind: true,
    isPaused,
  });
  for (const finding of findings) say(lineOf(finding));
  return findings.every(({ ok }) => ok);
}

export function siteOf({ SITE_URL = '' }: Values): string {
  return SITE_URL.replace(/\/+$/, '');
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type Version = { id: string; worker: string };

export type WranglerRun = {
  ok: boolean;
  output: string;
  version: Version | null;
};

type WranglerOptions = { env?: NodeJS.ProcessEnv; isQuiet?: boolean };

export type Wrangler = (args: string[], options?: WranglerOptions) => Promise<WranglerRun>;

export function openWrangler(
  script = join(root, 'node_modules/wrangler/bin/wrangler.js'),
): Wrangler {
  return async (args, { env = process.env, isQuiet = false } = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'solace-wrangler-'));
    const report = join(folder, 'report');
    try {
      const child = spawn(process.execPath, [script, ...args], {
        cwd: root,
        stdio: ['inherit', 'pipe', 'pipe'],
        env: { ...env, WRANGLER_OUTPUT_FILE_PATH: report },
      });
      const stdout = collect(child.stdout, isQuiet ? null : process.stdout);
      const stderr = collect(child.stderr, process.stderr);
      const [code] = (await once(child, 'close')) as [number | null];
      return {
        ok: code === 0,
        output: stdout() + stderr(),
        version: versionIn(report),
      };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

function collect(stream: Readable, shown: NodeJS.WritableStream | null): () => string {
  const chunks: string[] = [];
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    chunks.push(chunk);
    shown?.write(chunk);
  });
  return () => chunks.join('');
}

type Entry = { version_id?: string | null; worker_name?: string | null };

function versionIn(report: string): Version | null {
  if (!existsSync(report)) return null;
  const lines = readFileSync(report, 'utf8').split('\n').filter(Boolean);
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  const named = entries.findLast(({ version_id: id }) => id);
  return named
    ? {
        id: named.version_id!,
        worker: named.worker_name ?? '',
      }
    : null;
}

const builtPage = new URL('../../../dist/web/index.html', import.meta.url);

export type RetryTimes = { forMs: number; pauseMs: number };

export type Look = {
  siteUrl: string;
  version: Version | null;
  isPart?: boolean;
  secrets?: CallerSecrets | null;
};

/**
 * The problem of a deployed site, or null; repeats,
 * since a version takes time to reach every location.
 */
export async function smoke(
  look: Look,
  page = readFileSync(builtPage, 'utf8'),
  { forMs, pauseMs }: RetryTimes = { forMs: 90_000, pauseMs: 3000 },
): Promise<string | null> {
  const until = Date.now() + forMs;
  let problem = await probe(look, page);
  while (problem && Date.now() < until) {
    await wait(pauseMs);
    problem = await probe(look, page);
  }
  return problem;
}

async function probe(
  { siteUrl, version, isPart, secrets = null }: Look,
  page: string,
): Promise<string | null> {
  // Works only for versions of the present deployment.
  const headers: Record<string, string> =
    isPart && version
      ? { 'Cloudflare-Workers-Version-Overrides': `${version.worker}="${version.id}"` }
      : {};
  const get = (path: string) => responseOf(`${siteUrl}${path}`, headers);

  const health = await get('/api/health');
  if (!health.text.includes('"status":"ok"')) return `${siteUrl}/api/health ${health.was}`;
  if (version && health.version !== version.id)
    return `${siteUrl}/api/health is of the version ${health.version ?? 'without an id'}, not ${version.id}`;
  const stranger = await get('/api/user/me');
  if (stranger.status !== 401 || !stranger.text.includes('"unauthenticated"'))
    return `${siteUrl}/api/user/me ${stranger.was} to somebody who is not signed in, not 401`;
  const home = await get('/');
  const script = /\/assets\/(?:[\w-]+\/)?[\w.-]+\.js/.exec(page)?.[0] ?? '';
  if (!home.text.includes(script))
    return `${siteUrl}/ ${home.was}, without ${script} of this build`;
  const [obstacle] = (await problemsOutside({ siteUrl, headers }, secrets)) ?? [];
  return obstacle ? `${siteUrl}: ${obstacle.about} ${obstacle.what}. ${obstacle.remedy}` : null;
}

type Seen = {
  status: number | null;
  text: string;
  was: string;
  version: string | null;
};

async function responseOf(url: string, headers: Record<string, string>): Promise<Seen> {
  const response = await httpRequest(url, { headers });
  if ('failure' in response)
    return {
      status: null,
      text: '',
      was: `does not answer (${response.failure})`,
      version: null,
    };
  const text = await response.text().catch(() => '');
  return {
    status: response.status,
    text,
    was: `answers ${response.status}`,
    version: response.headers.get('x-version'),
  };
}
