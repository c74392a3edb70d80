import type { Withdrawal } from '#db/schema';
import { brand } from '../contract/brand.ts';
import type { Language } from '../contract/languages.ts';
import { formatMoney } from '../contract/money.ts';
import { plans } from '../contract/plans.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { pathIn } from '../contract/languages.ts';
import { dayMs } from '../lib/time.ts';
import type { Scope } from '../request-scope.ts';
import type { Settings } from '../settings.ts';
import { type ReceiptTexts, receiptTexts } from './receipt-texts.ts';
import { objectionMs } from './withdrawal-right.ts';
import { statementOf } from './statements.ts';

/** The link of a receipt works for this time (ms). */
export const receiptLinkMs = 30 * dayMs;

export type Stated = Omit<Withdrawal, 'receipt'>;

type Secrets = Pick<Settings, 'CODE_PEPPER' | 'SITE_URL'>;

/** What is found later changes nothing of it. */
export async function receiptOf(settings: Secrets, { receipt, ...of }: Withdrawal) {
  const { download } = receiptTexts[of.language as Language];
  return `${receipt}\n\n${download}: ${await linkOf(settings, of.id)}`;
}

/**
 * What was stated, with date and time (UTC), in the statement's language.
 * Somebody who has not signed in reads nothing that only the account
 * knows.
 */
export function receiptText(settings: Secrets, stated: Stated): string {
  const statement =
    stated.origin === 'public'
      ? {
          ...stated,
          ...notStated,
        }
      : stated;
  const words = receiptTexts[statement.language as Language];
  const lines = [
    words.title,
    '',
    words.statement.replace('{company}', brand.company),
    '',
    line(words.number, statement.id),
    line(words.submitted, instantOf(statement.submittedAt, statement)),
    line(words.name, statement.name),
    line(words.contact, statement.contact),
    line(words.plan, planOf(statement)),
    line(words.concluded, statement.concludedAt && instantOf(statement.concludedAt, statement)),
    refundLine(words, statement),
    objectionLine(words, settings, statement),
  ];
  return lines.filter((each) => each !== null).join('\n');
}

/**
 * The receipt as the person hears of it whose number was
 * given. A stranger's words reach nobody in our name: they
 * stand in the file behind the link, and nowhere else.
 */
export function receiptForPerson(settings: Secrets, statement: Withdrawal): Promise<string> {
  const isOwn = statement.origin === 'account';
  return isOwn ? receiptOf(settings, statement) : receiptWithout(settings, statement, unsaid);
}

/**
 * The receipts of one mail. Whoever makes a statement without signing in
 * chooses its recipient: then nothing that they wrote is in the mail.
 */
export async function receiptMailOf(
  settings: Secrets,
  statements: Withdrawal[],
  isOwn: boolean,
): Promise<{ subject: string; text: string }> {
  const words = receiptTexts[statements[0]!.language as Language];
  const receipts = statements.map((each) =>
    isOwn ? receiptForPerson(settings, each) : receiptForStranger(settings, each),
  );
  const all = await Promise.all(receipts);
  const text = isOwn ? all : [...all, words.stranger];
  return { subject: words.title, text: text.join('\n\n') };
}

function receiptForStranger(settings: Secrets, statement: Withdrawal): Promise<string> {
  const secret = {
    ...unsaid,
    contact: '',
    origin: 'public',
  } as const;
  return receiptWithout(settings, statement, secret);
}

const unsaid = { name: null, plan: null };

function receiptWithout(settings: Secrets, statement: Withdrawal, secret: Partial<Withdrawal>) {
  const receipt = receiptText(settings, { ...statement, ...secret });
  return receiptOf(settings, { ...statement, receipt });
}

const notStated = {
  tier: null,
  concludedAt: null,
  refund: null,
  currency: null,
};

function line(label: string, value: string | number | null): string | null {
  return value === null || value === '' ? null : `${label}: ${value}`;
}

function refundLine(words: ReceiptTexts, { refund, currency, language }: Stated): string {
  if (refund === null || currency === null) return words.refundOpen;
  return `${words.refund}: ${formatMoney(refund, currency, language)}`;
}

function objectionLine(
  words: ReceiptTexts,
  { SITE_URL }: Secrets,
  statement: Stated,
): string | null {
  if (statement.origin !== 'public') return null;
  const until = instantOf(statement.submittedAt + objectionMs, statement);
  const page = SITE_URL + pathIn(statement.language, '/withdraw');
  return `${words.objection.replace('{until}', until)}: ${page}`;
}

const planOf = ({ tier, plan }: Stated): string | null =>
  tier ? `${brand.name} ${plans[tier].name}` : plan;

function instantOf(at: number, { language }: Pick<Withdrawal, 'language'>): string {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'medium',
    hourCycle: 'h23',
    timeZone: 'UTC',
  });
  return `${format.format(at)} UTC`;
}

async function linkOf({ CODE_PEPPER, SITE_URL }: Secrets, id: string): Promise<string> {
  const key = await keyedHash(CODE_PEPPER[0]!, 'receipt', id);
  return `${SITE_URL}/api/withdrawals/${id}/receipt?key=${key}`;
}

/** For 30 days; else null. */
export async function openReceipt(
  { db, settings, now }: Scope<'db' | 'settings' | 'now'>,
  { id, key }: { id: string; key: string },
): Promise<{ day: string; text: string } | null> {
  const statement = await statementOf(db, id);
  const isRight = await opensReceipt(settings, id, key);
  if (!statement || !isRight || now > statement.submittedAt + receiptLinkMs) return null;
  const day = new Date(statement.submittedAt).toISOString().slice(0, 10);
  return { day, text: `${await receiptOf(settings, statement)}\n` };
}

/** Its duration tells nothing. */
async function opensReceipt({ CODE_PEPPER }: Secrets, id: string, given: string): Promise<boolean> {
  const keys = await keyedHashes(CODE_PEPPER, 'receipt', id);
  const wanted = await keyedHashes(CODE_PEPPER, 'receipt', given);
  const own = await Promise.all(keys.map((key) => keyedHashes(CODE_PEPPER, 'receipt', key)));
  return own.some((hashes) => hashes.some((hash) => wanted.includes(hash)));
}
