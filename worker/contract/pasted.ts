const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;
const isDigit = /^\p{Nd}$/u;

/** In the usual widths, with ASCII digits. Lines are kept. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\t\n\v\f\r\u2028\u2029]+/g, (space) => (space === '\t' ? ' ' : '\n'))
    .replaceAll(invisible, (character) => (character === '\n' ? '\n' : ''))
    .replaceAll(/[\u2800\u2795]/g, (character) => (character === '\u2795' ? '+' : ' '))
    .replaceAll(/\p{Nd}/gu, asciiDigit);
}

function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let before = 0;
  while (isDigit.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}

const separators = String.raw`\p{Z}\p{Pd}.·•_~()\[\]/*'\u2212`;
const separator = new RegExp(`[${separators}]`, 'gu');
const internationalNumber = new RegExp(
  `(?:\\+[${separators}]*|(?<![\\d+][${separators}]*)(?=00))\\d[\\d${separators}]*`,
  'u',
);
/** WhatsApp knows no extensions. */
const extension = /^[\p{Z},;]*(?:ext\p{L}*|x|#|ramal|int|anexo|durchwahl)[\p{Z}.:=]*\d/iu;
const keepsZero = /^\+(?:39|378|22[59]|24[12])/;

const shortestNumber = 10;
const longestNumber = 16;

/** What the numbering plans of all countries know. */
export type NumberingPlans = {
  /** If the number is possible without it alone. */
  withoutTrunkPrefix: (phone: string) => string;
  isPossible: (phone: string) => boolean;
  grouped: (phone: string) => string | null;
};

/** Without a number the text without separators. */
export function readPhone(pasted: string, plans?: NumberingPlans): string {
  const text = /^\+\d+$/.test(pasted) ? pasted : withoutAddress(plain(pasted));
  const phone = numberIn(text, plans);
  if (phone === undefined) return text.replaceAll(separator, '').replaceAll(/\s/g, '');
  return plans?.withoutTrunkPrefix(phone) ?? phone;
}

function numberIn(text: string, plans: NumberingPlans | undefined): string | undefined {
  const match = internationalNumber.exec(text);
  if (!match) return undefined;
  if (extension.test(text.slice(match.index + match[0].length))) return undefined;
  const phone = oneNumber(match[0], plans);
  return phone.length < shortestNumber ? undefined : phone;
}

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

/** `tel:` and the addresses of WhatsApp hold a number. */
function withoutAddress(text: string): string {
  const address = addressOfNumber.exec(text);
  if (!address) return text;
  const written = address[1]!.replaceAll(/%2B/gi, '+').replaceAll('%20', ' ').trim();
  const needsPlus = !/^(?:\+|00)/.test(written);
  const rest = text.slice(address.index + address[0].length);
  const dialledAfter = /^;ext=\d+/i.exec(rest)?.[0] ?? '';
  return `${needsPlus ? '+' : ''}${written}${dialledAfter}`;
}

/** Without a code the text without separators. */
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
