import { languages, type Language } from '#contract/languages';
import { faultsOf } from './check.ts';
import { compileWords } from './compile.ts';
import { pseudoLanguage, pseudoTexts } from './pseudo-language.ts';
import { folderOf, presentLanguages, readTexts } from './texts.ts';

export function compileAll(): Map<Language, string[]> {
  const incomplete = new Map<Language, string[]>();
  const present = presentLanguages();

  for (const language of languages) {
    if (!present.includes(language.tag)) continue;
    const faults = faultsOf(folderOf(language.tag), language.tag);
    if (faults.length > 0) incomplete.set(language.tag, faults);
    else compileWords(language, readTexts(folderOf(language.tag)));
  }

  if (!incomplete.has('en')) compileWords(pseudoLanguage, pseudoTexts(readTexts('en')));
  return incomplete;
}
