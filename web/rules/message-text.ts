export type MessagePart =
  | { kind: 'text'; text: string }
  | { kind: 'bold' | 'italic'; parts: MessagePart[] }
  | { kind: 'link'; text: string; href: string };

export type MessageBlock =
  | { kind: 'text' | 'heading'; text: string }
  | { kind: 'list'; start: number; items: string[] };

/** A heading, a rule, or an item of a list. */
const markedLine =
  /^(?:#{1,6} +(.*?)[ #]*|[ \t]*(-{3,}|\*{3,}) *|[ \t]*(?:[-*+•]|(\d{1,9})[.)]) +(\S.*))\r?$/;

/** Splits a message into blocks, since models write Markdown. Tables and code stay as written. */
export function messageBlocks(text: string): MessageBlock[] {
  const blocks: MessageBlock[] = [];
  for (const line of text.split('\n')) {
    const [, heading, rule, start, item] = markedLine.exec(line) ?? [];
    const number = Number(start ?? 0);
    const last = blocks.at(-1);
    const isBlank = rule ?? !line.trim();

    if (heading) blocks.push({ kind: 'heading', text: heading });
    else if (item && last?.kind === 'list' && isNumbered(last.start) === isNumbered(number))
      last.items.push(item);
    else if (item) blocks.push({ kind: 'list', start: number, items: [item] });
    else if (last?.kind === 'text') last.text += isBlank ? '\n' : `\n${line}`;
    else if (!isBlank) blocks.push({ kind: 'text', text: line });
  }
  return blocks;
}

const isNumbered = (start: number) => start > 0;

/** A named link, an address, or text between marks at borders of words, where no other pair begins. */
const marked =
  /\[([^\]\n]+)\]\((https?:\/\/(?:[^\s<>"()]|\([^\s<>"()]*\))+)\)|(?:https?:\/\/|(?<![\w@./-])www\.)[\p{L}\p{N}][^\s<>"]*|(?<![\p{L}\p{N}*_])(\*\*|__(?=[^_\n]* )|[*_](?![*_]))(?=\S)((?:(?!\3(?![*_]))[^\n]|\3\3[^\n*_]+\3\3|(?<=[\p{L}\p{N}])\3(?=[\p{L}\p{N}]))+?)(?<=\S)\3(?![\p{L}\p{N}*_])/giu;

export function messageParts(text: string): MessagePart[] {
  const parts: MessagePart[] = [];
  let end = 0;
  for (const match of text.matchAll(marked)) {
    const [whole, name, target, mark, inner = ''] = match;
    const used = name || mark ? whole : withoutPunctuation(whole);

    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) });
    if (mark) parts.push({ kind: mark === '_' ? 'italic' : 'bold', parts: messageParts(inner) });
    else parts.push(linkTo(target ?? used, name));
    end = match.index + used.length;
  }

  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) });
  return parts;
}

/** A name that looks like an address must be the real one. */
function linkTo(href: string, name = href): MessagePart {
  const text = /:\/\/|www\./i.test(name) ? href : name.replaceAll('**', '');
  return { kind: 'link', text, href: href.replace(/^www\./i, 'https://$&') };
}

const openings: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/** Returns an address without the punctuation of its sentence. `linkify-it` would add 4.4 KiB (brotli, 2026-11-28). */
function withoutPunctuation(text: string): string {
  const last = text.at(-1) ?? '';
  const opening = openings[last];
  const isOutside = opening
    ? text.split(last).length > text.split(opening).length
    : /[\p{Pe}\p{Ps}\p{Pf}\p{Pi}\p{Po}`]/u.test(last) && !'/&#%@'.includes(last);
  return isOutside ? withoutPunctuation(text.slice(0, -1)) : text;
}

/** Closes the open marks of the last line, so that a growing text looks like the whole one. */
export function growingText(text: string): string {
  const shown = text
    // Its address is not there yet.
    .replace(/\[([^\]\n]*)(\](\([^\s)]*)?)?$/, '$1')
    .replace(/(^|\s)(\*{1,2}|_)$/, '$1')
    .replace(/(^|\n)\s*(#{1,6}|[-+•])\s*$/, '$1');
  if (!isBoldOpen(shown)) return shown;
  const started = shown.replace(/\*$/, '').trimEnd();
  return isBoldOpen(started) ? `${started}**` : started;
}

const isBoldOpen = (text: string) => text.replace(/.*\n/g, '').split('**').length % 2 === 0;
