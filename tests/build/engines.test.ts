import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { oldestEngines } from '../../web/build/oldest-engines.ts';

const root = join(import.meta.dirname, '../../dist/web');

type Source = { file: string; text: string };

const filesOf = (pattern: string): Source[] =>
  globSync(pattern, { cwd: root }).map((file) => ({
    file,
    text: readFileSync(join(root, file), 'utf8'),
  }));

const partsOf = ({ file, text }: Source, tag: 'script' | 'style'): Source[] =>
  [...text.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map(([, part = '']) => ({
    file,
    text: part,
  }));

const pages = filesOf('**/*.html');
const inlineScripts = pages.flatMap((page) => partsOf(page, 'script'));
const scripts = [...filesOf('assets/**/*.js'), ...filesOf('sw.js'), ...inlineScripts];
const styles = [...filesOf('assets/*.css'), ...pages.flatMap((page) => partsOf(page, 'style'))];
const markup = pages.map(({ file, text }) => ({
  file,
  text: text.replaceAll(/<(script|style)>[\s\S]*?<\/\1>/g, ''),
}));

/** What an engine of `oldestEngines` lacks, and files whose code asks for it before it uses it. */
type Lack = [name: string, pattern: RegExp, asking?: RegExp];

const reactAndRouter = /\/vendor-/;

/** The types of the website know ES2023 only; this finds what libraries and the types of the DOM bring. */
const lackingInScripts: Lack[] = [
  ['Promise.withResolvers, Promise.try', /\bPromise\.(?:withResolvers|try)\b/],
  ['Array.fromAsync', /\bArray\.fromAsync\b/],
  ['Object.groupBy, Map.groupBy', /\b(?:Object|Map)\.groupBy\b/],
  ['URL.canParse, URL.parse', /\bURL\.(?:canParse|parse)\b/],
  ['the size of URLSearchParams', /\bURLSearchParams\([^()]*\)\.size\b|\.searchParams\.size\b/],
  ['isWellFormed, toWellFormed', /\.(?:is|to)WellFormed\b/],
  ['methods of sets', /\.(?:union|intersection|difference|symmetricDifference)\(/],
  ['comparisons of sets', /\.is(?:SubsetOf|SupersetOf|DisjointFrom)\b/],
  ['the global Iterator', /\bIterator\.(?:from|concat|prototype)\b/],
  [
    'helpers of iterators',
    /(?:\.(?:values|keys|entries)\(\)|\.matchAll\([^()]*\))\.(?:map|filter|take|drop|flatMap|reduce|forEach|some|every|find|toArray)\(/,
  ],
  ['bytes as text', /\.(?:toBase64|setFromBase64|fromBase64|toHex|setFromHex|fromHex)\b/],
  ['AbortSignal.any', /\bAbortSignal\.any\b/],
  ['RegExp.escape', /\bRegExp\.escape\b/],
  ['modifiers in an expression', /\(\?[ims]*-?[ims]+:/],
  ['the flag v of expressions', /\bRegExp\((?:[^()]|\([^()]*\))*,\s*[`'"][dgimsuy]*v/],
  ['Error.isError, Math.sumPrecise', /\b(?:Error\.isError|Math\.(?:sumPrecise|f16round))\b/],
  ['resizable or moved buffers', /\.transferToFixedLength\b|\bmaxByteLength\b/],
  ['bytes of a body', /\.bytes\(\)/],
  ['streams as iterables', /\bReadableStream\.from\b|\bfor await\b/],
  ['Intl.Segmenter, Intl.DurationFormat', /\bIntl\.(?:Segmenter|DurationFormat)\b/],
  ['facts about a locale', /\.(?:getTextInfo|textInfo|getWeekInfo|weekInfo)\b/],
  ['requestIdleCallback', /\brequestIdleCallback\b/],
  // `scheduler?.yield?.()` asks.
  ['scheduler', /\bscheduler\.(?:yield|postTask)\b/],
  ['popovers', /\.(?:show|hide|toggle)Popover\b/],
  ['view transitions', /\bstartViewTransition\(/, reactAndRouter],
  ['HTML set without a parser', /\b(?:setHTMLUnsafe|parseHTMLUnsafe|setHTML|getHTML)\(/],
  ['Node.moveBefore', /\.moveBefore\b/],
  ['Element.checkVisibility', /\.checkVisibility\b/],
  ['dialogs that close by request', /\.requestClose\b/],
  ['cookieStore, Temporal', /\b(?:cookieStore|Temporal)\./],
  ['using', /[;{}]\s*(?:await )?using \w+\s*=/],
  ['attributes of imports', /\bimport\([^()]*,\s*\{\s*with\b|\bfrom[`'"][^`'"]*[`'"]with\b/],
];

const lackingInStyles: Lack[] = [
  [':has()', /:has\(/],
  ['light-dark()', /(?<!\\\[)\blight-dark\((?!\\)/],
  ['nested rules', /[{;}]\s*&/],
  ['field-sizing, interpolate-size', /\b(?:field-sizing|interpolate-size|calc-size)\b/],
  [
    '@starting-style, @scope, @property',
    /@(?:starting-style|scope|property|position-try|function)/,
  ],
  ['places by an anchor', /\b(?:anchor|anchor-size)\(|\bposition-(?:anchor|area|try)\b/],
  ['popovers and open elements', /:popover-open|:open\b|::details-content/],
  ['discrete transitions', /\ballow-discrete\b|\btransition-behavior\b/],
  ['animations by scrolling', /\banimation-timeline\b|\b(?:scroll|view)-timeline\b/],
  ['the height of a line as a unit', /\dr?lh\b/],
  ['linear() with stops', /\blinear\(/],
  ['steps of numbers', /\b(?:round|mod|rem|abs|sign|sibling-index|if)\(/],
  [':user-invalid, :state(), :dir()', /:(?:user-(?:in)?valid|state\(|dir\()/],
  ['colours made of others', /\((?:from) (?:var|#|rgb|hsl|ok)/],
  ['queries of a style', /\bstyle\(\s*--/],
  ['subgrid, text-box', /\bsubgrid\b|\btext-box\b/],
  ['custom properties of a backdrop', /::backdrop\{[^}]*var\(/],
];

const lackingInMarkup: Lack[] = [
  ['popovers and commands', /<[^>]*\s(?:popover|popovertarget|commandfor|interestfor)[=\s>]/],
  ['served shadow roots', /\bshadowrootmode=/],
  ['hidden until found', /="until-found"/],
  ['lists of which one is open', /<details[^>]*\sname=/],
];

function expectNone(sources: Source[], [, pattern, asking]: Lack): void {
  expect(sources.length).toBeGreaterThan(0);
  const users = sources.filter(({ file, text }) => pattern.test(text) && !asking?.test(`/${file}`));
  expect([...new Set(users.map(({ file }) => file))]).toEqual([]);
}

const floor = oldestEngines.join(', ');

it.each(lackingInScripts)(`no script needs more than ${floor}: %s`, (...lack) =>
  expectNone(scripts, lack),
);

it.each(lackingInStyles)(`no style needs more than ${floor}: %s`, (...lack) =>
  expectNone(styles, lack),
);

it.each(lackingInMarkup)(`no page needs more than ${floor}: %s`, (...lack) =>
  expectNone(markup, lack),
);

/** Arrow functions, template literals, declarations of ES2015 and the operators of ES2020 are syntax errors there. */
const newSyntax = /=>|`|\b(?:let|const|class|async|await)\b|\?\.|\?\?|\.\.\./;

it('every page asks old engines in a script that each of them can read', () => {
  for (const page of pages) {
    const asking = partsOf(page, 'script').filter(({ text }) => !newSyntax.test(text));
    expect(asking, page.file).toHaveLength(1);
    expect(asking[0]?.text, page.file).toContain('CompressionStream');
  }
});
