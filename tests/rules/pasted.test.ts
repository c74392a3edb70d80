import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { numberingPlans } from '../../worker/contract/numbering-plans.ts';
import { readCode, readPhone } from '../../worker/contract/pasted.ts';
import { Phone } from '../../worker/contract/schemas.ts';
import * as library from '../../web/data/phone-library.ts';
import { canonicalPhone, readPastedPhone } from '../../worker/identity/phone.ts';
import { shownCode } from '../../web/rules/sign-in-rules.ts';

const plans = numberingPlans(library);

/** Whatever a person may paste, and the number that they see in it. */
const pasted: [string, string][] = [
  ['+1 (555) 123-4567', '+15551234567'],
  ['+1.555.123.4567', '+15551234567'],
  ['+1\u00a0555\u2011123\u20134567', '+15551234567'],
  [' +15551234567 ', '+15551234567'],
  // Invisible and formatting characters.
  ['\u202a+1 555 123 4567\u202c', '+15551234567'],
  ['\u2068+1\u00ad555\u2060123\ufe0d4567\u2069', '+15551234567'],
  ['\u200e+15551234567', '+15551234567'],
  ['+1\u200b5551234567', '+15551234567'],
  ['+1\u3164555\u31641234567', '+15551234567'],
  ['+1\u2007555\u202f123\u30004567\ufeff', '+15551234567'],
  ['\u{e0020}+1\u034f555\u180e1234567', '+15551234567'],
  // Digits of other scripts, and other signs of plus and minus.
  ['+٤٩ ١٥١ ٢٣٤٥٦٧٨٩', '+4915123456789'],
  ['+۴۹۱۵۱۲۳۴۵۶۷۸۹', '+4915123456789'],
  ['+४९ १५१ २३४५६७८९', '+4915123456789'],
  ['＋４９　１５１－２３４５６７８９', '+4915123456789'],
  ['➕49 151 23456789', '+4915123456789'],
  ['+49−151−23456789', '+4915123456789'],
  // Prefixes, separators and marks.
  ['0049 151 23456789', '+4915123456789'],
  ['00 49 (0) 151 / 234 567 89', '+4915123456789'],
  ['+0049 151 23456789', '+4915123456789'],
  ['+ 49 151 23456789', '+4915123456789'],
  ['(+49) 151 23456789', '+4915123456789'],
  ['+(49)15123456789', '+4915123456789'],
  ['+49 151/23456789', '+4915123456789'],
  ['+49·151·23456789', '+4915123456789'],
  ['*+49 151 23456789*', '+4915123456789'],
  ['Tel.: +49 151 23456789 (mobil)', '+4915123456789'],
  // Addresses.
  ['tel:+49-151-23456789', '+4915123456789'],
  ['tel:4915123456789', '+4915123456789'],
  ['tel:+49 (0)151/23456789', '+4915123456789'],
  ['\u202atel:+٤٩١٥١٢٣٤٥٦٧٨٩\u202c', '+4915123456789'],
  ['Call <tel:+49 151 23456789>', '+4915123456789'],
  ['tel:004915123456789', '+4915123456789'],
  ['tel:%2B49%20151%2023456789', '+4915123456789'],
  ['https://wa.me/4915123456789', '+4915123456789'],
  ['https://wa.me/+4915123456789?text=Hi%20123', '+4915123456789'],
  ['https://api.whatsapp.com/send?phone=%2B4915123456789&text=hi', '+4915123456789'],
  ['whatsapp://send?phone=15551234567', '+15551234567'],
  // Trunk prefixes.
  ['+49 (0)151 23456789', '+4915123456789'],
  ['+490151 23456789', '+4915123456789'],
  ['+44 (0)7911 123456', '+447911123456'],
  ['+44 07911 123456', '+447911123456'],
  ['+33 06 12 34 56 78', '+33612345678'],
  ['+54 11 15 1234-5678', '+5491112345678'],
  ['+54 0351 15 123 4567', '+5493511234567'],
  ['+54 9 11 1234-5678', '+5491112345678'],
  ['+52 044 55 1234 5678', '+525512345678'],
  ['+52 045 55 1234 5678', '+525512345678'],
  ['+52 01 55 1234 5678', '+525512345678'],
  ['+55 011 98888-7777', '+5511988887777'],
  ['+55 0 15 11 98888-7777', '+5511988887777'],
  ['+36 06 20 123 4567', '+36201234567'],
  ['+7 8 916 123 45 67', '+79161234567'],
  ['+1 1 555 123 4567', '+15551234567'],
  ['+370 8 612 34567', '+37061234567'],
  ['+48 0 512 345 678', '+48512345678'],
  // Zeros that belong to the number.
  ['+39 06 1234 5678', '+390612345678'],
  ['+39 (0)6 1234 5678', '+390612345678'],
  ['+225 07 12 34 56 78', '+2250712345678'],
  // Words beside a number, and what is written without a space in scripts without capitals.
  ['WhatsApp: +49 151 23456789', '+4915123456789'],
  ['Mobil+49 151 23456789 privat', '+4915123456789'],
  ['Call tel:+49 151 23456789 now', '+4915123456789'],
  ['+49 151 23456789-a', '+4915123456789'],
  ['電話+81 90 1234 5678まで', '+819012345678'],
  // Two numbers.
  ['+15551234567+15551234567', '+15551234567'],
  ['+49 151 23456789, +49 30 1234567', '+4915123456789'],
  ['+49 151 23456789 / 0170 1234567', '+4915123456789'],
  ['+49 151 23456789\n+49 30 1234567', '+4915123456789'],
  ['+1 555 123 4567 555 987 6543', '+15551234567'],
];

it.each(pasted)(
  'the pasted number %j is %s, in the browser and in the Worker',
  async (typed, phone) => {
    expect(readPhone(typed, plans)).toBe(phone);
    expect(await readPastedPhone(typed)).toBe(phone);
  },
);

it.each([
  '',
  'hello',
  '15551234567',
  '5551234567',
  '+1 555 CALL-ME',
  '+1 800 FLOWERS',
  '+1 555 123 4567 ext. 89',
  '+1 555 123 4567 x89',
  'tel:+1-201-555-0123;ext=5',
  '+1415555010a',
  '+49 151 2345678O',
  '+4915123456O89',
  '00491512345678l',
  'tel:+1415555010a',
  'https://wa.me/1415555010a?text=Hi',
  'Mobile: +1 415 555 010a (private)',
])('%j holds no number that can be a WhatsApp account', (typed) => {
  expect(v.is(Phone, readPhone(typed, plans))).toBe(false);
});

describe('a number that the rule accepts', () => {
  const accepted = fc.stringMatching(/^\+[1-9]\d{8,14}$/).filter((phone) => v.is(Phone, phone));

  it('is accepted whatever its plan says, and read twice it is the same', async () => {
    await fc.assert(
      fc.asyncProperty(accepted, async (phone) => {
        const read = await readPastedPhone(phone);
        expect(v.is(Phone, read)).toBe(true);
        expect(await readPastedPhone(read)).toBe(read);
        expect(v.is(Phone, canonicalPhone(read))).toBe(true);
        expect(read).toBe(readPhone(phone, plans));
      }),
      { numRuns: 3000 },
    );
  });

  it('stays as it is if its plan knows it', () => {
    fc.assert(
      fc.property(accepted, (phone) => {
        fc.pre(library.parse(phone)?.isValid() === true && library.describe(phone).isValid());
        expect(readPhone(phone, plans)).toBe(phone);
      }),
    );
  });

  it('is the same with anything invisible, any separator and any digits between', () => {
    const marks = Array.from(
      '\u200b\u200e\u202a\u2069\ufeff\u00ad\ufe0f\u3164\u115f\u034f \u00a0\u202f\u2009-\u2011./()',
    );
    const between = fc.array(fc.constantFrom(...marks), {
      minLength: 16,
      maxLength: 16,
    });
    const zeros = fc.constantFrom(0x30, 0x660, 0x6f0, 0x966, 0xff10, 0x1d7ce, 0x1d7f6);
    fc.assert(
      fc.property(accepted, between, zeros, (phone, separators, zero) => {
        // "(0)" is a trunk prefix.
        fc.pre(!phone.includes('0'));
        const spelled = (digit: string) => String.fromCodePoint(zero + Number(digit));
        const typed = phone.slice(1).replaceAll(/\d/g, (digit, index: number) => {
          return spelled(digit) + separators[index];
        });
        expect(readPhone(`+${typed}`)).toBe(phone);
      }),
    );
  });
});

it('the digits of every script are digits', () => {
  const all = Array.from({ length: 0x1ffff }, (_, code) => String.fromCodePoint(code));
  const digits = all.filter((character) => /^\p{Nd}$/u.test(character));
  expect(digits.length).toBeGreaterThan(600);
  const read = digits.map((digit) => readCode(digit)).join('');
  expect(read).toBe('0123456789'.repeat(digits.length / 10));
});

it.each([
  ['+4915123456789', '+49 1512 3456789'],
  ['+447911123456', '+44 7911 123456'],
  ['+33612345678', '+33 6 12 34 56 78'],
  ['+5511988887777', '+55 11 98888 7777'],
  ['+999123456789', null],
])('the number %s is grouped as %s', (phone, text) => {
  expect(plans.grouped(phone)).toBe(text);
});

it.each([
  ['123456', '123456'],
  ['*123456*', '123456'],
  ['Your code is 123456', '123456'],
  ['Tu código de verificación es 123456.', '123456'],
  ['Seu código: 123456', '123456'],
  ['123456 is your code. It is valid for 5 minutes.', '123456'],
  ['123456 5 min', '123456'],
  ['123 456', '123456'],
  ['123-456', '123456'],
  ['123–456', '123456'],
  ['123\u2011456', '123456'],
  ['123−456', '123456'],
  ['1 2 3 4 5 6', '123456'],
  ['\u200e123456', '123456'],
  ['123\u200b456\ufeff', '123456'],
  ['G-123456', '123456'],
  ['S-123 456', '123456'],
  ['١٢٣٤٥٦', '123456'],
  ['۱۲۳۴۵۶', '123456'],
  ['१२३४५६', '123456'],
  ['１２３４５６', '123456'],
  ['<#> 123456 FA+9qCX9VSu', '123456'],
  ['Sent to +1 555 123 4567: your code is 654 321.', '654321'],
  ['+49 151 234567 code: 654321', '654321'],
  ['Order 4915123456789, code 222-333', '222333'],
  ['123456\n123456', '123456'],
  // What somebody types.
  ['', ''],
  ['12', '12'],
  ['12 3', '123'],
  ['12a', '12a'],
  ['abc', 'abc'],
  ['1234567', '123456'],
])('the field of a code shows for %j: %j', (typed, code) => {
  expect(shownCode(typed)).toBe(code);
});

it('a code that is too long is not cut by the Worker', () => {
  expect(readCode('1234567')).toBe('1234567');
});
