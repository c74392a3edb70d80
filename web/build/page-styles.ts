import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Plugin, Rolldown } from 'vite';

/** The file in which the stylesheet is kept for the builds of other languages, and whether this build makes it. */
type Options = { keptIn: string; isMade: boolean };

/** Puts the stylesheet into the page, and its layers with classes into a file for `app/deployment-change.ts`. */
export function splitStylesheet({ keptIn, isMade }: Options): Plugin {
  let sheet = '';
  return {
    name: 'split-stylesheet',
    apply: 'build',
    generateBundle: {
      order: 'pre',
      handler(_options, bundle) {
        const files = Object.values(bundle);
        const sheets = files.filter((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
        const source = sheets.map((file) => ('source' in file ? String(file.source).trim() : '')).join('');
        sheet = isMade ? withShortVariables(withoutUnusedVariables(source)) : readFileSync(keptIn, 'utf8');
        if (isMade) keep(keptIn, sheet);
        for (const { fileName } of sheets) delete bundle[fileName];
        for (const file of files) if (file.type === 'chunk') file.viteMetadata?.importedCss.clear();
        this.emitFile({ type: 'asset', name: 'styles.css', source: classLayers(sheet) });
      },
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) => [
        { tag: 'style', children: sheet, injectTo: 'head' },
        { tag: 'link', attrs: preload(bundle), injectTo: 'head' },
      ],
    },
  };
}

function keep(file: string, sheet: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, sheet);
}

/** A low priority: the first paint needs nothing of the file. */
function preload(bundle: Rolldown.OutputBundle): Record<string, string> {
  const file = Object.keys(bundle).find((fileName) => fileName.endsWith('.css'));
  if (!file) throw new Error('The build has no stylesheet');
  return { rel: 'preload', as: 'style', fetchpriority: 'low', href: `/${file}` };
}

type Part = { prelude: string; block: string | null };

const inlineStyle = /<style>([\s\S]*?)<\/style>/;

/** The layers whose rules name classes. Fonts, tokens and the styles of elements are in every page. */
const classLayers = (sheet: string): string =>
  partsOf(sheet)
    .filter(({ prelude, block }) => block !== null && /^@layer (?:recipes|utilities)\b/.test(prelude))
    .map(textOf)
    .join('');

/** The page, with only those of its inline rules that name no class or one of the page. */
export function withOwnStyles(html: string): string {
  const classes = classesOf(html.replace(inlineStyle, ''));
  const isRightToLeft = /<html[^>]*\sdir="rtl"/.test(html);
  return html.replace(inlineStyle, (_, sheet) => `<style>${keepRules(sheet, { classes, isRightToLeft })}</style>`);
}

/** What a page has: the classes of its elements, and the direction of its text. */
type Used = { classes: ReadonlySet<string>; isRightToLeft: boolean };

function keepRules(css: string, used: Used): string {
  return partsOf(css)
    .map((part) => keepPart(part, used))
    .join('');
}

function keepPart(part: Part, used: Used): string {
  const { prelude, block } = part;
  if (!prelude.startsWith('@')) return isUsed(prelude, used) ? textOf(part) : '';
  if (block === null || !/^@(?:layer|media|supports|container)\b/.test(prelude)) return textOf(part);
  const kept = keepRules(block, used);
  if (kept) return textOf({ prelude, block: kept });
  // The first mention of a layer decides about its rank.
  return prelude.startsWith('@layer') ? textOf({ prelude, block: null }) : '';
}

function isUsed(selectors: string, { classes, isRightToLeft }: Used): boolean {
  if (selectors.startsWith(':root[dir=rtl]') && !isRightToLeft) return false;
  const named = [...selectors.matchAll(/\.((?:\\.|[\w-])+)/g)].map(([, name = '']) => name.replaceAll(/\\(.)/g, '$1'));
  return named.length === 0 || named.some((name) => classes.has(name));
}

function classesOf(html: string): Set<string> {
  const lists = [...html.matchAll(/\sclass="([^"]*)"/g)].map(([, list = '']) => unescape(list));
  return new Set(lists.flatMap((list) => list.split(/\s+/)));
}

function unescape(text: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };
  return text.replaceAll(/&([\w#]+);/g, (whole, name) => entities[name] ?? whole);
}

const textOf = ({ prelude, block }: Part) => (block === null ? `${prelude};` : `${prelude}{${block}}`);

/** Every page has the same sheet. */
const knownParts = new Map<string, Part[]>();

function partsOf(css: string): Part[] {
  const parts: Part[] = knownParts.get(css) ?? [];
  if (parts.length > 0) return parts;
  knownParts.set(css, parts);
  let [start, open, depth] = [0, 0, 0];
  // Strings and escaped characters are matched so that a brace in them is not taken for one of the syntax.
  for (const { 0: token, index } of css.matchAll(/\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{};]/g)) {
    if (token === '{' && depth++ === 0) open = index;
    if (token === '}' && --depth === 0) {
      parts.push({ prelude: css.slice(start, open).trim(), block: css.slice(open + 1, index) });
      start = index + 1;
    }
    if (token === ';' && depth === 0) {
      parts.push({ prelude: css.slice(start, index).trim(), block: null });
      start = index + 1;
    }
  }
  return parts;
}

/** Panda declares 30 unused custom properties for each element: 0.3 KiB of every page. Scripts read none. */
export function withoutUnusedVariables(sheet: string): string {
  const used = new Set([...sheet.matchAll(/var\((--[\w-]+)/g)].map(([, name = '']) => name));
  const kept = sheet.replaceAll(/(?<=[;{])(--[\w-]+):[^;{}]*(?:;|(?=\}))/g, (declaration, name) =>
    used.has(name) ? declaration : '',
  );
  // A removed property may have been the only one that used another.
  return kept === sheet ? sheet : withoutUnusedVariables(kept);
}

/** Shortens the names of the tokens' custom properties: 0.4 KiB of every page. Scripts and classes name none. */
export function withShortVariables(sheet: string): string {
  const declared = /:where\(:root,:host\)\{([^}]*)\}/.exec(sheet)?.[1] ?? '';
  const tokens = new Set([...declared.matchAll(/(?<=^|;)(--[\w-]+):/g)].map(([, found = '']) => found));
  // Two hyphens in a class are not the start of a name.
  const name = /(?<![\w-])--[\w-]+/g;
  const uses = new Map<string, number>();
  for (const [found] of sheet.matchAll(name)) if (tokens.has(found)) uses.set(found, (uses.get(found) ?? 0) + 1);
  const byUse = [...uses].toSorted(([, one], [, other]) => other - one);
  const short = new Map(byUse.map(([found], index) => [found, `--${index.toString(36)}`]));
  return sheet.replaceAll(name, (found) => short.get(found) ?? found);
}
