import { describe, expect, it } from 'vitest';
import { canonicalPhone } from '../../worker/accounts/phone.ts';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { Phone } from '../../worker/contract/schemas.ts';
import { countryOfPhone } from '../../web/rules/phone-country.ts';
import { helpLines } from '../../worker/contract/help-lines.ts';

describe('the canonical spelling of a number', () => {
  it.each([
    ['a Mexican number as WhatsApp spells it', '+5215512345678', '+525512345678'],
    ['a Mexican number as it is dialled', '+525512345678', '+525512345678'],
    ['an Argentinian mobile as WhatsApp spells it', '+5491123456789', '+541123456789'],
    ['an Argentinian number as it is dialled', '+541123456789', '+541123456789'],
    ['a Brazilian mobile without its ninth digit', '+551187654321', '+5511987654321'],
    ['a Brazilian mobile with its ninth digit', '+5511987654321', '+5511987654321'],
    ['a Brazilian landline', '+551133334444', '+551133334444'],
    ['a number of the United States', '+15551234567', '+15551234567'],
    ['a German number that begins like a Mexican one', '+4915212345678', '+4915212345678'],
  ])('%s', (_, spelled, canonical) => {
    expect(canonicalPhone(spelled)).toBe(canonical);
    expect(canonicalPhone(canonical)).toBe(canonical);
  });
});

describe('every number', () => {
  const digits = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'.split('')), minLength: length, maxLength: length });
  const anywhere = fc
    .tuple(fc.constantFrom(...'123456789'.split('')), fc.integer({ min: 8, max: 14 }).chain(digits))
    .map(([first, rest]) => `+${first}${rest}`);
  const fromCountry = (code: string) =>
    fc
      .integer({ min: 8, max: 12 })
      .chain(digits)
      .map((rest) => `+${code}${rest}`);
  const phone = fc.oneof(anywhere, ...['1', '49', '52', '521', '54', '549', '55'].map(fromCountry));

  it('turns a number that the API takes into one that it takes', () => {
    fc.assert(
      fc.property(phone, (spelled) => {
        fc.pre(v.is(Phone, spelled));
        expect(v.is(Phone, canonicalPhone(spelled))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves a spelling that is canonical as it is', () => {
    fc.assert(
      fc.property(phone, (spelled) => {
        const canonical = canonicalPhone(spelled);
        expect(canonicalPhone(canonical)).toBe(canonical);
      }),
      { numRuns: 1000 },
    );
  });

  it('never moves a number to another country', () => {
    fc.assert(
      fc.property(phone, (spelled) => {
        const canonical = canonicalPhone(spelled);
        const respelled = ['+52', '+54', '+55'].some((code) => spelled.startsWith(code) && canonical.startsWith(code));
        expect(canonical === spelled || respelled).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps the last eight digits, whatever the spelling: no two people become one by them', () => {
    fc.assert(
      fc.property(phone, (spelled) => {
        expect(canonicalPhone(spelled).slice(-8)).toBe(spelled.slice(-8));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['Mexican', digits(10), (rest: string) => [`+52${rest}`, `+521${rest}`]],
    ['Argentinian', digits(10), (rest: string) => [`+54${rest}`, `+549${rest}`]],
    [
      'Brazilian mobile',
      fc
        .tuple(fc.constantFrom('11', '21', '99'), fc.constantFrom(...'6789'.split('')), digits(7))
        .map((parts) => parts.join('')),
      (rest: string) => [`+55${rest}`, `+55${rest.slice(0, 2)}9${rest.slice(2)}`],
    ],
  ])('gives both spellings of a %s number the same one', (_, rest, spell) => {
    fc.assert(
      fc.property(rest, (number) => {
        const [first, second] = spell(number).map(canonicalPhone);
        expect(first).toBe(second);
      }),
    );
  });

  it('leaves a Brazilian landline its eight digits', () => {
    const landline = fc.tuple(fc.constantFrom('11', '21', '99'), fc.constantFrom('2', '3', '4', '5'), digits(7));
    fc.assert(
      fc.property(landline, (parts) => {
        const number = `+55${parts.join('')}`;
        expect(canonicalPhone(number)).toBe(number);
      }),
    );
  });
});

describe('the country of a number', () => {
  it.each([
    ['+15551234567', 'US'],
    ['+12125551234', 'US'],
    ['+14165551234', 'CA'],
    ['+18765551234', 'JM'],
    ['+18095551234', 'DO'],
    ['+17875551234', 'PR'],
    ['+447400123456', 'GB'],
    ['+447781123456', 'GG'],
    ['+447911123456', 'GG'],
    ['+447911223456', 'GB'],
    ['+447797712345', 'JE'],
    ['+447624312345', 'IM'],
    ['+4915112345678', 'DE'],
    ['+420601123456', 'CZ'],
    ['+393240117252', 'IT'],
    ['+390669812345', 'VA'],
    ['+5215512345678', 'MX'],
    ['+85251234567', 'HK'],
  ])('%s belongs to %s', (phone, country) => {
    expect(countryOfPhone(phone)).toBe(country);
  });

  it.each([
    '+18005551234',
    '+79161234567',
    '+2348012345678',
    '+4512345678',
    '15551234567',
    '+0123456789',
    '+1',
    '',
    '988',
  ])('says nothing about %j', (phone) => {
    expect(countryOfPhone(phone)).toBeUndefined();
  });

  it.each(Object.keys(helpLines))('knows a calling code of %s, which has a line', (country) => {
    const found = Array.from({ length: 999 }, (_, code) => countryOfPhone(`+${code + 1}2045551234`));
    expect(found).toContain(country);
  });
});
