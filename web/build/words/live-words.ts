import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';
import { languages } from '#contract/languages';
import { compileAll } from './compile-all.ts';
import { folderOf, wordsFolder } from './texts.ts';

const name = /^#words\/([\w-]+)$/;
const compiledIn = /\/worker\/contract\/(?:brand|languages|plans)\.ts$/;
const command = join(import.meta.dirname, 'language-command.ts');
const virtual = '\0words:';
const fileOf = (folder: string, module: string) =>
  join(wordsFolder, 'compiled', folder, `${module}.ts`);

/** A page imports the words of its own `lang`. */
export function liveWords(): Plugin {
  return {
    name: 'live-words',
    apply: 'serve',
    enforce: 'pre',
    applyToEnvironment: ({ name: environment }) => environment === 'client',
    resolveId: {
      filter: { id: name },
      handler: (id) => virtual + name.exec(id)?.[1],
    },
    load: {
      filter: { id: /^\0words:/ },
      handler(id) {
        const module = id.slice(virtual.length);
        const english = fileOf('en', module);
        this.addWatchFile(english);
        return chooseByLanguage(module, exportsOf(readFileSync(english, 'utf8')));
      },
    },
    configureServer({ watcher, ws, config: { logger } }) {
      // Prices are compiled in, and this process has read them.
      watcher.on('change', (file) => {
        if (compiledIn.test(file)) execFile(process.execPath, [command, 'compile']);
      });

      let isBroken = false;
      watcher.on('change', (file) => {
        const tag = languageOf(file);
        if (!tag) return;

        const faults = compiledFaults(tag);
        for (const fault of faults) logger.error(fault);

        const message = faults.filter((fault) => fault.startsWith(`${tag}: `)).join('\n');
        if (message) ws.send({ type: 'error', err: { message, stack: '', id: file } });
        else if (isBroken) ws.send({ type: 'update', updates: [] });
        isBroken = message !== '';
      });
    },
  };
}

function languageOf(file: string): string | undefined {
  if (!file.endsWith('.json')) return undefined;
  return languages.find(({ tag }) => dirname(file) === join(wordsFolder, folderOf(tag)))?.tag;
}

function compiledFaults(edited: string): string[] {
  try {
    return [...compileAll()].flatMap(([tag, faults]) => faults.map((fault) => `${tag}: ${fault}`));
  } catch (error) {
    return [`${edited}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function chooseByLanguage(module: string, names: string[]): string {
  const imports = languages.map(({ tag }) => {
    const file = JSON.stringify(fileOf(folderOf(tag), module));
    return `${JSON.stringify(tag)}: () => import(${file})`;
  });
  return [
    `const words = { ${imports.join(', ')} };`,
    `export const { ${names.join(', ')} } = await words[document.documentElement.lang]();`,
  ].join('\n');
}

const exportsOf = (source: string) =>
  [...source.matchAll(/^export (?:const|\* as) (\w+)/gm)].flatMap(([, found]) => found ?? []);
