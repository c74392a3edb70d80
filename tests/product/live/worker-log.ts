import { stripVTControlCharacters } from 'node:util';
import { createLogger, type Logger } from 'vite';

export type Mistake = { message: string; stack: string };

/** Prints warnings and errors, and reports whether the edited Worker could be loaded: null if it could. */
export function workerLogger(report: (mistake: Mistake | null) => void): Logger {
  const logger = createLogger('warn');
  return {
    ...logger,
    info(line) {
      if (line.startsWith('[vite] hot updated')) report(null);
      else if (/^\[vite\] \w*Error/.test(line)) report(mistakeIn(line));
    },
  };
}

/** Of the stack, only the places in the sources say where the mistake is. */
function mistakeIn(line: string): Mistake {
  const text = stripVTControlCharacters(line).replace('[vite] ', '');
  const message = text.split(/\n\s+at /)[0]?.trim() ?? text;
  const places = text.match(/^\s+at .*\/worker\/.*$/gm) ?? [];
  return { message, stack: places.join('\n') };
}
