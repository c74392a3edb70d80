import { spawnSync } from 'node:child_process';
import { languages, published } from '#contract/languages';
import { faultsOf } from './words/check.ts';
import { pseudoLanguage } from './words/pseudo-language.ts';
import { folderOf } from './words/texts.ts';

/** Builds the site in every published language, or adds the pseudo-language to the last build, for tests. */
function buildSite(options: string[]): void {
  if (options[0] === 'pseudo') return build(folderOf(pseudoLanguage.tag), options.slice(1));
  // English first: it empties the folder of the site, and the other languages add to it.
  for (const tag of published) {
    const faults = faultsOf(folderOf(tag), tag);
    if (faults.length > 0) end(`${tag} is published but not complete:\n${faults.join('\n')}`);
    build(folderOf(tag), options);
  }
  for (const { tag } of languages.filter((language) => !published.includes(language.tag)))
    process.stdout.write(`${tag} is not published; \`npm run language -- check ${tag}\` says what it lacks\n`);
}

function build(folder: string, options: string[]): void {
  const conditions = folder === 'en' ? [] : [`--conditions=${folder}`];
  const program = ['node_modules/vite/bin/vite.js', 'build', '--configLoader', 'native', ...options];
  const { status } = spawnSync(process.execPath, [...conditions, ...program], { stdio: 'inherit' });
  if (status !== 0) end(`The build of ${folder} failed`);
}

function end(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

buildSite(process.argv.slice(2));
