import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { languages, published } from '#contract/languages';
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

const [command = '', tag, file] = process.argv.slice(2);
const row = languages.find((language) => language.tag === tag);

if (command === 'compile') compile();
else if (command === 'check' && tag === undefined) presentLanguages().forEach(check);
else if (!['check', 'add', 'export', 'import', 'accept'].includes(command) || tag === undefined)
  fail(usage);
else if (!row) fail(`${tag} is not in worker/contract/languages.ts. Add it there first.`);
else if (command === 'add') add(folderOf(row.tag));
else if (!existsSync(join(wordsFolder, folderOf(row.tag))))
  fail(`Run first: npm run language -- add ${tag}`);
else if (command === 'check') check(row.tag);
else if (command === 'accept') accept(folderOf(row.tag));
else if (command === 'export') exportTo(file ?? `${tag}.po`, row.tag);
else if (file === undefined) fail(usage);
else importFrom(file, row.tag);

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

function add(folder: string): void {
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
