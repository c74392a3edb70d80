import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { languages, published } from '#contract/languages';
import { readLine, runCommand, UsageError } from '../../../worker/operations/command-line.ts';
import { faultsOf } from './check.ts';
import { compileAll } from './compile-all.ts';
import {
  folderOf,
  presentLanguages,
  readNotes,
  readSources,
  sentencesOf,
  wordsFolder,
  writeTexts,
} from './texts.ts';
import {
  currentSources,
  readPo,
  staleKeys,
  type Translation,
  writePo,
} from './translation-files.ts';

const usage = `npm run language -- check [tag]           names what is missing, stale or broken, in one language or all
npm run language -- add <tag>             makes the folder of a language with the English texts, marked as missing
npm run language -- export <tag> [file]   writes a PO file for translators, <tag>.po if no other is named
npm run language -- import <tag> <file>   takes over what a PO file says
npm run language -- accept <tag>          notes that every text says what English says now
npm run language -- compile               writes the TypeScript of every language that is complete`;

/** The most words of each command, its own one included. */
const places: Record<string, number> = {
  check: 2,
  add: 2,
  export: 3,
  import: 3,
  accept: 2,
  compile: 1,
};

await runCommand(async () => {
  const call = 'npm run language -- COMMAND [tag] [file]';
  const { words } = readLine({ usage: call, help: usage, words: 3 });
  const [command = '', tag, file] = words;
  if (words.length > (places[command] ?? 0)) throw new UsageError(usage);
  run(command, tag, file);
  return process.exitCode !== 1;
});

function run(command: string, tag: string | undefined, file: string | undefined): void {
  if (command === 'compile') return compile();
  if (command === 'check' && tag === undefined) return presentLanguages().forEach(check);
  if (tag === undefined || (command === 'import' && file === undefined))
    throw new UsageError(usage);

  const row = languages.find((language) => language.tag === tag);
  if (!row) return fail(`${tag} is not in worker/contract/languages.ts. Add it there first.`);
  const folder = folderOf(row.tag);
  if (command === 'add') return add(folder, tag);
  if (!existsSync(join(wordsFolder, folder)))
    return fail(`Run first: npm run language -- add ${tag}`);
  if (command === 'check') return check(row.tag);
  if (command === 'accept') return accept(folder);
  if (command === 'export') return exportTo(file ?? `${tag}.po`, row.tag);
  importFrom(file!, row.tag);
}

function check(language: string): void {
  const stale = staleKeys(sentencesOf('en'), readSources(folderOf(language)));
  const faults = [
    ...faultsOf(folderOf(language), language),
    ...stale.map((key) => `${key} is stale: its English has changed since it was translated`),
  ];
  if (faults.length > 0) process.exitCode = 1;
  for (const fault of faults) print(`${language}: ${fault}`);
  const isPublished = published.some((other) => other === language);
  print(`${language}: ${faults.length} faults${isPublished ? '' : ', not published'}`);
}

function add(folder: string, tag: string): void {
  const target = join(wordsFolder, folder);
  if (existsSync(target)) return fail(`${target} exists already`);
  mkdirSync(target);
  const english = sentencesOf('en');
  writeTexts(folder, english, Object.fromEntries([...english.keys()].map((key) => [key, ''])));
  format(target);
  print(`${target} has the English texts. Translate them with: npm run language -- export ${tag}`);
}

function accept(folder: string): void {
  writeTexts(folder, sentencesOf(folder), currentSources(sentencesOf('en')));
  format(join(wordsFolder, folder));
}

function translationIn(folder: string): Translation {
  return { sentences: sentencesOf(folder), sources: readSources(folder) };
}

function exportTo(target: string, language: string): void {
  const translation = translationIn(folderOf(language));
  writeFileSync(
    target,
    writePo({ ...translation, tag: language, english: sentencesOf('en'), notes: readNotes() }),
  );
  print(`${target} has ${translation.sentences.size} texts`);
}

function importFrom(source: string, language: string): void {
  if (!existsSync(source)) return fail(`There is no file ${source}.`);
  const folder = folderOf(language);
  const { sentences, sources } = readPo(
    readFileSync(source, 'utf8'),
    sentencesOf('en'),
    translationIn(folder),
  );
  writeTexts(folder, sentences, sources);
  format(join(wordsFolder, folder));
  check(language);
}

function compile(): void {
  for (const [language, faults] of compileAll()) {
    if (language === 'en') fail(faults.join('\n'));
    else
      print(
        `${language} is not complete: ${faults.length} faults. See: npm run language -- check ${language}`,
      );
  }
}

function format(folder: string): void {
  execFileSync(process.execPath, ['node_modules/oxfmt/bin/oxfmt', folder], { stdio: 'inherit' });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}
