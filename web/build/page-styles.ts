import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parse, type Container, type Root } from 'postcss';
import selectorParser from 'postcss-selector-parser';
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
        const sheets = files.filter(
          (file) => file.type === 'asset' && file.fileName.endsWith('.css'),
        );
        const source = sheets
          .map((file) => ('source' in file ? String(file.source).trim() : ''))
          .join('');
        sheet = isMade
          ? withShortVariables(withoutUnusedVariables(source))
          : readFileSync(keptIn, 'utf8');
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

const inlineStyle = /<style>([\s\S]*?)<\/style>/;

/** The layers whose rules name classes. Fonts, tokens and the styles of elements are in every page. */
function classLayers(sheet: string): string {
  const root = parse(sheet);
  root.each((node) => {
    if (!(node.type === 'atrule' && node.nodes && /^(?:recipes|utilities)\b/.test(node.params)))
      node.remove();
  });
  return root.toString();
}

/** The page, with only those of its inline rules that name no class or one of the page. */
export function withOwnStyles(html: string): string {
  const classes = classesOf(html.replace(inlineStyle, ''));
  const isRightToLeft = /<html[^>]*\sdir="rtl"/.test(html);
  return html.replace(inlineStyle, (_, sheet: string) => {
    const root = parsed(sheet).clone();
    if (html.includes('data-prerendered="shell"')) removePrintRules(root);
    keepUsed(root, { classes, isRightToLeft });
    return `<style>${root.toString()}</style>`;
  });
}

/** Nobody prints a shell: the whole stylesheet has arrived with what it shows. */
function removePrintRules(root: Root): void {
  root.walkAtRules('media', (rule) => {
    let namesClasses = false;
    rule.walkRules(({ selector }) => {
      namesClasses ||= classesIn(selector).length > 0;
    });
    if (rule.params === 'print' && namesClasses) rule.remove();
  });
}

/** What a page has: the classes of its elements, and the direction of its text. */
type Used = { classes: ReadonlySet<string>; isRightToLeft: boolean };

const knownSheets = new Map<string, Root>();

function parsed(sheet: string): Root {
  const root = knownSheets.get(sheet) ?? parse(sheet);
  knownSheets.set(sheet, root);
  return root;
}

const grouping = new Set(['layer', 'media', 'supports', 'container']);

function keepUsed(container: Container, used: Used): void {
  container.each((node) => {
    if (node.type === 'comment' || (node.type === 'rule' && !isUsed(node.selector, used)))
      node.remove();
    if (node.type !== 'atrule' || !node.nodes || !grouping.has(node.name)) return;
    keepUsed(node, used);
    if (node.nodes.length > 0) return;
    // The first mention of a layer decides about its rank.
    if (node.name === 'layer') node.replaceWith({ name: 'layer', params: node.params });
    else node.remove();
  });
}

function isUsed(selector: string, { classes, isRightToLeft }: Used): boolean {
  if (selector.startsWith(':root[dir=rtl]') && !isRightToLeft) return false;
  const named = classesIn(selector);
  return named.length === 0 || named.some((name) => classes.has(name));
}

const knownSelectors = new Map<string, string[]>();

function classesIn(selector: string): string[] {
  const known = knownSelectors.get(selector);
  if (known) return known;
  const names: string[] = [];
  selectorParser()
    .astSync(selector)
    .walkClasses(({ value }) => void names.push(value));
  knownSelectors.set(selector, names);
  return names;
}

function classesOf(html: string): Set<string> {
  const lists = [...html.matchAll(/\sclass="([^"]*)"/g)].map(([, list = '']) => unescape(list));
  return new Set(lists.flatMap((list) => list.split(/\s+/)));
}

function unescape(text: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };
  return text.replaceAll(/&([\w#]+);/g, (whole, name) => entities[name] ?? whole);
}

/** Two hyphens in a word are not the start of a name. */
const variable = /(?<![\w-])--[\w-]+/g;

const variablesIn = (value: string): string[] => value.match(variable) ?? [];

/** Panda declares 30 unused custom properties for each element: 0.3 KiB of every page. Scripts read none. */
export function withoutUnusedVariables(sheet: string): string {
  const root = parse(sheet);
  let isChanged = true;
  // A removed property may have been the only one that used another.
  while (isChanged) {
    isChanged = false;
    const used = new Set<string>();
    root.walkDecls(({ value }) => variablesIn(value).forEach((name) => used.add(name)));
    root.walkDecls(/^--/, (declaration) => {
      if (used.has(declaration.prop)) return;
      declaration.remove();
      isChanged = true;
    });
  }
  return root.toString();
}

/** Shortens the names of the tokens' custom properties: 0.4 KiB of every page. Scripts and classes name none. */
export function withShortVariables(sheet: string): string {
  const root = parse(sheet);
  // By these two the build writes light-dark() for engines that lack it.
  const tokens = new Set(['--lightningcss-light', '--lightningcss-dark']);
  root.walkRules(':where(:root,:host)', (rule) =>
    rule.walkDecls(/^--/, ({ prop }) => void tokens.add(prop)),
  );
  const uses = new Map<string, number>();
  root.walkDecls(({ prop, value }) => {
    for (const name of [prop, ...variablesIn(value)])
      if (tokens.has(name)) uses.set(name, (uses.get(name) ?? 0) + 1);
  });
  const byUse = [...uses].toSorted(([, one], [, other]) => other - one);
  const short = new Map(byUse.map(([found], index) => [found, `--${index.toString(36)}`]));
  root.walkDecls((declaration) => {
    declaration.prop = short.get(declaration.prop) ?? declaration.prop;
    declaration.value = declaration.value.replaceAll(variable, (name) => short.get(name) ?? name);
  });
  return root.toString();
}
