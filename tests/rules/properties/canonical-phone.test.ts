import * as fc from 'fast-check';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { canonicalPhone } from '../../../worker/accounts/phone.ts';
import { Phone } from '../../../worker/contract/schemas.ts';

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
