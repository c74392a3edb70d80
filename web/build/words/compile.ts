import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { intlModule, languageModule, type SiteLanguage } from './intl-module.ts';
import { sourceOf } from './message.ts';
import { type readTexts, type Texts, wordsFolder } from './texts.ts';

const compiledFolder = (folder: string) => join(wordsFolder, 'compiled', folder);

/** Throws for an invalid message. */
export function compileWords(language: SiteLanguage, words: ReturnType<typeof readTexts>): void {
  const folder = language.tag.toLowerCase();
  const target = compiledFolder(folder);
  mkdirSync(target, { recursive: true });

  const wanted = new Map<string, string>();
  for (const [file, groups] of Object.entries(words)) {
    const names = Object.keys(groups);
    const exports = names.map(
      (group) => `export * as ${group}Words from './${file}.${group}.ts';\n`,
    );
    wanted.set(`${file}.ts`, exports.join(''));
    for (const [group, texts] of Object.entries(groups))
      wanted.set(
        `${file}.${group}.ts`,
        moduleSource(texts, { language, place: `${folder}/${file}.json ${group}` }),
      );
  }

  const names = words['help']?.['helpLine']?.['countryNames'];
  wanted.set('language.ts', languageModule(language));
  wanted.set('intl.ts', intlModule(language.tag, names as Record<string, string>));

  for (const [file, source] of wanted) writeIfChanged(join(target, file), source);
  for (const file of readdirSync(target))
    if (!wanted.has(file)) rmSync(join(target, file), { force: true });
}

type Place = { language: SiteLanguage; place: string };

function moduleSource(texts: { [key: string]: Texts }, { language, place }: Place): string {
  const lines = Object.entries(texts).map(([key, text]) => {
    const value = valueSource(text, { language, place: `${place}.${key}` });
    // A key such as `delete` cannot name a constant.
    return `const _${key} = ${value};\nexport { _${key} as ${key} };\n`;
  });
  const source = lines.join('');
  const start = source.includes('pluralForm(')
    ? "import { pluralForm } from '../../plural-form.ts';\n"
    : '';
  return start + source;
}

function valueSource(text: Texts, { language, place }: Place): string {
  if (typeof text === 'string') return sentenceSource(text, { language, place });
  const inside = (key: string, value: Texts) =>
    valueSource(value, { language, place: `${place}.${key}` });
  if (Array.isArray(text))
    return `[${text.map((value, index) => inside(String(index), value)).join(', ')}]`;
  const entries = Object.entries(text).map(
    ([key, value]) => `${JSON.stringify(key)}: ${inside(key, value)}`,
  );
  return `{ ${entries.join(', ')} }`;
}

function sentenceSource(text: string, { language, place }: Place): string {
  try {
    return sourceOf(text, language);
  } catch (error) {
    throw new Error(
      `web/words/${place}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** At once, since several processes compile the same words. */
function writeIfChanged(file: string, source: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === source) return;
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, source);
  renameSync(partial, file);
}
