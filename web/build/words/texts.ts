import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Language, languages } from '#contract/languages';
import type { Sources } from './translation-files.ts';

/** `#words/*` leads to this language (imports of package.json). */
export const wordsConditions: string[] = process.execArgv
  .filter((argument) => argument.startsWith('--conditions='))
  .map((argument) => argument.slice('--conditions='.length));

export type Texts = string | Texts[] | { [key: string]: Texts };

export const wordsFolder = join(import.meta.dirname, '../../words');

export const folderOf = (tag: string): string => tag.toLowerCase();

export const presentLanguages = (): Language[] =>
  languages.map(({ tag }) => tag).filter((tag) => existsSync(join(wordsFolder, folderOf(tag))));

const others = ['notes.json', 'sources.json'];

export function readTexts(
  folder: string,
): Record<string, { [group: string]: { [key: string]: Texts } }> {
  const files = readdirSync(join(wordsFolder, folder)).filter(
    (file) => file.endsWith('.json') && !others.includes(file),
  );
  const nameOf = (file: string) => file.slice(0, -'.json'.length);
  return Object.fromEntries(files.map((file) => [nameOf(file), parseTexts(folder, file)]));
}

function parseTexts(folder: string, file: string) {
  try {
    return JSON.parse(readFileSync(join(wordsFolder, folder, file), 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`web/words/${folder}/${file}: ${reason}`, { cause: error });
  }
}

export const sentencesOf = (folder: string): Map<string, string> => flatTexts(readTexts(folder));

function flatTexts(texts: Texts, place = ''): Map<string, string> {
  if (typeof texts === 'string') return new Map([[place, texts]]);
  const inside = Object.entries(texts).map(([key, text]) =>
    flatTexts(text, place ? `${place}.${key}` : key),
  );
  return new Map(inside.flatMap((all) => [...all]));
}

export function inEnglishOrder(
  sentences: ReadonlyMap<string, string>,
): ReturnType<typeof readTexts> {
  return withSentences(readTexts('en'), sentences, '') as ReturnType<typeof readTexts>;
}

function withSentences(texts: Texts, sentences: ReadonlyMap<string, string>, place: string): Texts {
  if (typeof texts === 'string') return sentences.get(place) ?? texts;
  const at = (key: string | number) => (place ? `${place}.${key}` : String(key));
  if (Array.isArray(texts))
    return texts.map((text, index) => withSentences(text, sentences, at(index)));
  const entries = Object.entries(texts).map(
    ([key, text]) => [key, withSentences(text, sentences, at(key))] as const,
  );
  return Object.fromEntries(entries);
}

export function writeTexts(
  folder: string,
  sentences: ReadonlyMap<string, string>,
  sources: Sources,
): void {
  for (const [file, groups] of Object.entries(inEnglishOrder(sentences)))
    writeJson(folder, `${file}.json`, groups);
  writeJson(folder, 'sources.json', sources);
}

function writeJson(folder: string, file: string, content: object): void {
  writeFileSync(join(wordsFolder, folder, file), `${JSON.stringify(content, null, 2)}\n`);
}

export const readSources = (folder: string): Sources => readFlat(folder, 'sources.json');

/** By the key of a text, a group or a file. */
export const readNotes = (): Record<string, string> => readFlat('en', 'notes.json');

function readFlat(folder: string, file: string): Record<string, string> {
  const path = join(wordsFolder, folder, file);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}
