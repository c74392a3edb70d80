import type { Plugin } from 'vite';
import { staticStyleCalls } from './static-style-calls.ts';

type Styles = Record<string, (...args: unknown[]) => unknown>;

/**
 * Replaces calls of `css` and of recipes whose arguments are literals by the class names that they return, so that a
 * page ships neither the calls nor, if none is left, the functions.
 */
export function inlineStyles(generated: string): Plugin {
  let styles: Styles = {};
  return {
    name: 'inline-styles',
    apply: 'build',
    enforce: 'post',
    async buildStart() {
      const [css, recipes] = await Promise.all([
        import(`${generated}/css/index.js`),
        import(`${generated}/recipes/index.js`),
      ]);
      styles = { ...css, ...recipes };
    },
    transform(code, id) {
      // The generated functions do nothing until they are called.
      if (id.startsWith(generated)) return { code, moduleSideEffects: false, map: null };
      if (!code.includes('#styled/')) return null;
      return { code: inlined(code, staticStyleCalls(this.parse(code), code), styles), map: null };
    },
  };
}

function inlined(code: string, calls: ReturnType<typeof staticStyleCalls>, styles: Styles): string {
  const fromTheEnd = calls.toSorted((a, b) => b.start - a.start);
  return fromTheEnd.reduce((text, { name, args, start, end }) => {
    const result = JSON.stringify(styles[name]?.(...args));
    return result === undefined ? text : text.slice(0, start) + wrapped(result) + text.slice(end);
  }, code);
}

/** The class names of a slot recipe are an object, which must not be parsed as a block. */
const wrapped = (result: string) => (result.startsWith('{') ? `(${result})` : result);
