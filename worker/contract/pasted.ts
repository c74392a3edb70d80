/** What people paste into a field, a command or a call, read as what they see in it. */

/**
 * Characters that nobody sees: formatting,
 * variation selectors, fillers, control characters.
 */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;
const isDigit = /^\p{Nd}$/u;

/**
 * The text without invisible characters, in the usual
 * widths and with ASCII digits. Lines are kept.
 */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\t\n\v\f\r\u2028\u2029]+/g, (space) => (space === '\t' ? ' ' : '\n'))
    .replaceAll(invisible, (character) => (character === '\n' ? '\n' : ''))
    .replaceAll(/[\u2800\u2795]/g, (character) => (character === '\u2795' ? '+' : ' '))
    .replaceAll(/\p{Nd}/gu, asciiDigit);
}

/** Unicode gives each script its ten digits in a row. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let before = 0;
  while (isDigit.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}

const separators = String.raw`\p{Z}\p{Pd}.·•_~()\[\]/*'\u2212`;
const separator = new RegExp(`[${separators}]`, 'gu');
/** A plus or the prefix of international calls, then digits between separators. */
const internationalNumber = new RegExp(
  `(?:\\+[${separators}]*|(?<![\\d+][${separators}]*)(?=00))\\d[\\d${separators}]*`,
  'u',
);
/** Follows a number that has more to dial: WhatsApp knows no extensions. */
const extension = /^[\p{Z},;]*(?:ext\p{L}*|x|#|ramal|int|anexo|durchwahl)[\p{Z}.:=]*\d/iu;
/**
 * A letter at the last digit stands where one more was meant.
 * Scripts without capitals may write the next word so.
 */
const isGlued = (text: string, end: number) => /^\d\p{LC}/u.test(text.slice(end - 1));
/**
 * National numbers that begin with a zero, in
 * Italy, San Marino and four countries of Africa.
 */
const keepsZero = /^\+(?:39|378|22[59]|24[12])/;

const shortestNumber = 10;
const longestNumber = 16;

/**
 * What the numbering plans of all countries
 * know; `numberingPlans` makes it of a library.
 */
export type NumberingPlans = {
  /** The number without a trunk prefix, if it is possible without it and not with it. */
  withoutTrunkPrefix: (phone: string) => string;
  isPossible: (phone: string) => boolean;
  /** Grouped as its country does, or null for a number of no country. */
  grouped: (phone: string) => string | null;
};

/**
 * The international number in a pasted text: `+` and digits. Where
 * there is none it returns the text without separators, which then
 * breaks the rule of `Phone`. Of two numbers it takes the first.
 */
export function readPhone(pasted: string, plans?: NumberingPlans): string {
  const text = /^\+\d+$/.test(pasted) ? pasted : withoutAddress(plain(pasted));
  const phone = numberIn(text, plans);
  if (phone === undefined) return text.replaceAll(separator, '').replaceAll(/\s/g, '');
  return plans?.withoutTrunkPrefix(phone) ?? phone;
}

function numberIn(text: string, plans: NumberingPlans | undefined): string | undefined {
  const match = internationalNumber.exec(text);
  if (!match) return undefined;
  const end = match.index + match[0].length;
  if (isGlued(text, end) || extension.test(text.slice(end))) return undefined;

  const phone = oneNumber(match[0], plans);
  return phone.length < shortestNumber ? undefined : phone;
}

/**
 * The longest beginning of a run of digits that
 * can be one number: a second one may follow.
 */
function oneNumber(run: string, plans: NumberingPlans | undefined): string {
  const whole = e164(run);
  if (whole.length <= longestNumber) return whole;
  const withoutPrefix = plans?.withoutTrunkPrefix(whole) ?? whole;
  if (withoutPrefix.length <= longestNumber) return withoutPrefix;
  const ends = [...run.matchAll(new RegExp(`(?<=\\d)[${separators}]`, 'gu'))].map(
    ({ index }) => index,
  );
  const beginnings = ends
    .map((end) => e164(run.slice(0, end)))
    .filter(({ length }) => length >= shortestNumber && length <= longestNumber)
    .toSorted((a, b) => b.length - a.length);
  const known = plans && beginnings.find((phone) => plans.isPossible(phone));
  return known ?? beginnings[0] ?? whole;
}

/** `(0)` is what callers from abroad leave out. */
function e164(run: string): string {
  const digits = (text: string) => `+${text.replaceAll(/\D/g, '').replace(/^00/, '')}`;
  const written = digits(run);
  const withoutZero = digits(run.replace(/\([\p{Z}]*0[\p{Z}]*\)/u, ''));
  return keepsZero.test(written) ? written : withoutZero;
}

const addressOfNumber =
  /(?:\bwa\.me\/|[?&]phone=|\b(?:tel|callto|sms):(?:\/\/)?)((?:%2B|%20|[+\d\p{Z}\p{Pd}()./])+)/iu;

/** `tel:` and the addresses of WhatsApp hold a number; what else they hold is left out. */
function withoutAddress(text: string): string {
  const address = addressOfNumber.exec(text);
  if (!address) return text;
  const written = address[1]!.replaceAll(/%2B/gi, '+').replaceAll('%20', ' ').trim();
  const needsPlus = !/^(?:\+|00)/.test(written);
  const end = address.index + address[0].length;
  const glued = isGlued(text, end) ? text[end]! : '';
  const dialledAfter = /^;ext=\d+/i.exec(text.slice(end))?.[0] ?? glued;
  return `${needsPlus ? '+' : ''}${written}${dialledAfter}`;
}

/**
 * The one-time code in a pasted text, or the
 * text without separators where none is found.
 */
export function readCode(pasted: string): string {
  const text = plain(pasted);
  const groups = [...text.matchAll(/\+?\d(?:[\p{Z}\p{Pd}.()/\u2212]*\d)*/gu)].map(
    ([group]) => group,
  );
  const whole = groups.find((group) => /^(?:\D*\d){6}$/.test(group) && !group.startsWith('+'));
  if (whole) return whole.replaceAll(/\D/g, '');
  const part = groups
    .filter((group) => !group.startsWith('+'))
    .flatMap((group) => group.match(/(?<!\d)\d{6}(?!\d)/g) ?? []);
  return part[0] ?? text.replaceAll(/[\p{Z}\p{Pd}\s]/gu, '');
}
