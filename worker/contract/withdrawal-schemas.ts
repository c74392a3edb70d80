import * as v from 'valibot';
import { emailAddress } from './email-address.ts';
import { PaidTier, Timestamp } from './schemas.ts';
import { isVisible, withHalvesReplaced } from './visible-text.ts';

/** The version of the texts of the order's review; a choice is kept with it. */
export const withdrawalTextVersion = '2026-11-29';

/** Cents of the currency's smallest unit. */
const Cents = v.pipe(v.number(), v.integer(), v.minValue(0));

const statementStates = ['received', 'refunding', 'done', 'needs_owner'] as const;

export const Contract = v.object({
  tier: PaidTier,
  concludedAt: Timestamp,
  withdrawableUntil: Timestamp,
  startNow: v.boolean(),
  /** Null while the payment provider does not tell. */
  paid: v.nullable(Cents),
  refund: v.nullable(Cents),
  currency: v.string(),
});

export const Statement = v.object({
  id: v.string(),
  submittedAt: Timestamp,
  state: v.picklist(statementStates),
  /** Null until the contract of the statement is known. */
  refund: v.nullable(Cents),
});

/** `isDelayed`: a limit keeps the receipt until then. */
export const ReceiptMail = v.object({ at: Timestamp, isDelayed: v.boolean() });

/** `objectUntil`: it takes effect then, unless they object. */
export const KeptStatement = v.object({
  ...Statement.entries,
  objectUntil: v.optional(Timestamp),
});

export const Objection = v.object({ id: v.string('id is missing') });

const lineBreaks = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const directions = /[\u202a-\u202e\u2066-\u2069]/gu;

/** Phones put marks around the numbers that people copy. */
const onOneLine = (text: string): string =>
  text.replaceAll(directions, '').replaceAll(lineBreaks, ' ');

/** Nobody can read halves of characters either. */
const isReadable = (text: string): boolean =>
  isVisible(withHalvesReplaced(text).replaceAll('\ufffd', ''));

/** A statement is refused for no spelling of what can be read. */
function text(name: string, least: number, most: number) {
  const rule = `${name} must have ${least} to ${most} characters`;
  return v.pipe(
    v.string(rule),
    v.transform(onOneLine),
    v.trim(),
    v.minLength(least, rule),
    v.maxLength(most, rule),
    v.check(
      (typed) => least === 0 || isReadable(typed),
      `${name} must have something that can be read`,
    ),
    v.transform(withHalvesReplaced),
  );
}

const Email = emailAddress('email must be an address');

export const OwnStatement = v.object({ email: v.optional(Email) });

export const PublicStatement = v.object({
  name: text('name', 2, 200),
  /** A phone number or an e-mail address. */
  contact: text('contact', 3, 200),
  plan: v.optional(text('plan', 0, 200)),
  email: v.optional(Email),
});

export const ReceiptKey = v.object({
  key: v.pipe(v.string('key is missing'), v.regex(/^[\w-]{1,100}$/, 'key is malformed')),
});
