import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { languages, published } from '#contract/languages';
import { mergedHeaders } from './site-files.ts';
import { faultsOf } from './words/check.ts';
import { pseudoLanguage } from './words/pseudo-language.ts';
import { folderOf } from './words/texts.ts';

const root = join(import.meta.dirname, '../..');
const headers = join(root, 'dist/web/_headers');

async function buildSite(options: string[]): Promise<void> {
  if (options[0] === 'pseudo')
    return addLanguages([folderOf(pseudoLanguage.tag)], options.slice(1));

  for (const tag of published) {
    const faults = faultsOf(folderOf(tag), tag);
    if (faults.length > 0) end(`${tag} is published but not complete:\n${faults.join('\n')}`);
  }

  // English empties the folder, and makes the styles of all.
  await build('en', options);
  const others = published.filter((tag) => tag !== 'en');
  await addLanguages(others.map(folderOf), options);

  for (const { tag } of languages.filter((language) => !published.includes(language.tag)))
    process.stdout.write(
      `${tag} is not published; \`npm run language -- check ${tag}\` says what it lacks\n`,
    );
}

async function addLanguages(folders: string[], options: string[]): Promise<void> {
  await Promise.all(folders.map((folder) => build(folder, options)));
  const files = [
    headers,
    ...folders.map((folder) => join(root, 'dist/prerender', folder, '_headers')),
  ];
  writeFileSync(headers, mergedHeaders(files.map((file) => readFileSync(file, 'utf8'))));
}

async function build(folder: string, options: string[]): Promise<void> {
  const conditions = folder === 'en' ? [] : [`--conditions=${folder}`];
  const program = [
    'node_modules/vite/bin/vite.js',
    'build',
    '--configLoader',
    'native',
    ...options,
  ];
  // Every language compiles the same scripts of Vite.
  const env = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'), ...process.env };
  const vite = spawn(process.execPath, [...conditions, ...program], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [status]] = await Promise.all([
    text(vite.stdout),
    text(vite.stderr),
    once(vite, 'close'),
  ]);
  process.stdout.write(output);
  process.stderr.write(errors);
  if (status !== 0) end(`The build of ${folder} failed`);
}

function end(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

await buildSite(process.argv.slice(2));
