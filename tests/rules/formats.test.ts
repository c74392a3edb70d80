import { describe, expect, it } from 'vitest';
import { canonicalPhone } from '../../worker/identity/phone.ts';
import * as fc from 'fast-check';
import { getCountries, getCountryCallingCode } from 'libphonenumber-js/min';
import * as v from 'valibot';
import { Phone } from '../../worker/contract/schemas.ts';
import { countryOfPhone } from '../../web/rules/phone-country.ts';
import { helpLines } from '../../worker/contract/help-lines.ts';
import { formatDate } from '../../web/rules/formats.ts';
import { formatPhone } from '../../web/rules/phone-text.ts';
import { formatTime } from '../../web/rules/transcript.ts';
import { errorMessage, errorText } from '../../web/data/error-toasts.ts';

it.each([
  ['a Mexican number as WhatsApp spells it', '+5215512345678', '+525512345678'],
  ['an Argentinian mobile as WhatsApp spells it', '+5491123456789', '+541123456789'],
  ['a Brazilian mobile without its ninth digit', '+551187654321', '+5511987654321'],
  ['one of the highest area and the lowest mobile digit', '+559961234567', '+5599961234567'],
  ['a Brazilian landline', '+551123334444', '+551123334444'],
  ['another one', '+552157654321', '+552157654321'],
  ['an old number of Benin', '+22997123456', '+2290197123456'],
  ['a new number of Benin', '+2290197123456', '+2290197123456'],
  ['an old Ivorian mobile of Moov', '+22502123456', '+2250102123456'],
  ['an old Ivorian mobile of MTN', '+22545123456', '+2250545123456'],
  ['an old Ivorian mobile of Orange', '+22588123456', '+2250788123456'],
  ['an old Ivorian landline of MTN', '+22520012345', '+2252520012345'],
  ['an old Ivorian landline of Moov', '+22520812345', '+2252120812345'],
  ['an old Ivorian landline of Orange', '+22527212345', '+2252727212345'],
  ['a new Ivorian number', '+2250545123456', '+2250545123456'],
  ['a number of the United States', '+15551234567', '+15551234567'],
  ['a German number that begins like a Mexican one', '+4915212345678', '+4915212345678'],
])('the canonical spelling of %s', (_, spelled, canonical) => {
  expect(canonicalPhone(spelled)).toBe(canonical);
});

it('every number keeps its country and last eight digits, is taken as before, and has one canonical spelling', () => {
  const phone = fc.oneof(
    fc.stringMatching(/^\+[1-9]\d{8,14}$/),
    fc.stringMatching(/^\+(1|49|52|521|54|549|55|225|229)\d{8,12}$/),
  );
  fc.assert(
    fc.property(phone, (spelled) => {
      const canonical = canonicalPhone(spelled);
      expect(canonicalPhone(canonical)).toBe(canonical);
      if (v.is(Phone, spelled)) expect(v.is(Phone, canonical)).toBe(true);
      const respelled = ['+52', '+54', '+55', '+225', '+229'].some(
        (code) => spelled.startsWith(code) && canonical.startsWith(code),
      );
      expect(canonical === spelled || respelled).toBe(true);
      // No two people become one by them.
      expect(canonical.slice(-8)).toBe(spelled.slice(-8));
    }),
    { numRuns: 2000 },
  );
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

  const elsewhere = ['+18005551234', '+79161234567', '+2348012345678', '+4512345678'];
  it.each([...elsewhere, '15551234567', '+0123456789', '+1', '', '988'])(
    'says nothing about %j',
    (phone) => {
      expect(countryOfPhone(phone)).toBeUndefined();
    },
  );

  it.each(Object.keys(helpLines))('knows a calling code of %s, which has a line', (country) => {
    const found = Array.from({ length: 999 }, (_, code) =>
      countryOfPhone(`+${code + 1}2045551234`),
    );
    expect(found).toContain(country);
  });
});

it.each([
  ['+15551234567', '+1 555-123-4567'],
  ['+12125550123', '+1 212-555-0123'],
  ['+79161234567', '+7 916-123-4567'],
  ['+447911123456', '+44 791-112-3456'],
  ['+34612345678', '+34 612-345-678'],
  ['+351912345678', '+351 912-345-678'],
  ['+5511987654321', '+55 119-876-54321'],
  ['+551133334444', '+55 113-333-4444'],
  ['+4915112345678', '+49 151-123-45678'],
  ['+4930123456', '+4930123456'],
  [null, 'Invalid Number'],
  ['', 'Invalid Number'],
])('the number %s is shown as %s', (phone, shown) => {
  expect(formatPhone(phone)).toBe(shown);
});

it('a number is shown with its calling code, in every country', () => {
  const shown = getCountries().map((country) => {
    const code = getCountryCallingCode(country);
    return [country, code, formatPhone(`+${code}987654321`)];
  });
  expect(shown.length).toBeGreaterThan(200);
  for (const [country, code, text] of shown) expect(text, country).toBe(`+${code} 987-654-321`);
});

it.each([
  ['2025-01-05T00:00:00Z', 'UTC', 'January 5, 2025'],
  ['2025-01-05T02:00:00Z', 'America/New_York', 'January 4, 2025'],
  [null, 'UTC', 'an unknown date'],
  ['soon', 'UTC', 'an unknown date'],
])('the date %s is shown in %s as %s', (iso, timeZone, shown) => {
  expect(formatDate(iso, timeZone)).toBe(shown);
});

it('a shown date and its time are the ones of the platform, for every minute', () => {
  const anyMinute = fc.date({
    min: new Date('2000-01-01'),
    max: new Date('2100-01-01'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(anyMinute, (date) => {
      const day = {
        year: 'numeric',
        month: 'long',
        day: 'numeric',
      } as const;
      expect(formatDate(date.toISOString())).toBe(date.toLocaleDateString('en-US', day));
      const time = date.toLocaleTimeString('en-US', {
        hour: 'numeric',
        minute: '2-digit',
      });
      // Node separates the halves of the day by a narrow space, browsers by a common one.
      expect(formatTime(date.toISOString())).toBe(time.replace('\u202f', ' '));
    }),
  );
});

describe('the text of an error', () => {
  const expired = 'Session expired. Please log in again.';
  const wrongCode = 'Invalid code. Please try again.';
  const forbidden = 'You do not have permission to perform this action';
  const broken = 'Server error. Please try again later.';
  it.each([
    [401, undefined, true, expired, expired],
    [401, wrongCode, false, wrongCode, wrongCode],
    [403, 'Not yours', false, 'Permission denied', 'Not yours'],
    [403, undefined, false, 'Permission denied', forbidden],
    [404, 'Not found', false, 'Resource not found', null],
    [429, 'Slow down', false, 'Rate limit exceeded', 'Too many requests. Please try again later.'],
    [500, 'x', false, broken, broken],
    [502, 'x', false, broken, broken],
    [503, 'x', false, broken, broken],
    [409, 'In the way', false, 'In the way', 'In the way'],
    [418, undefined, false, 'Request failed with status 418', 'Request failed with status 418'],
    [504, undefined, false, 'Request failed with status 504', 'Request failed with status 504'],
  ])('%i with %s (session ended: %s)', (status, message, hasSessionEnded, error, toast) => {
    expect(
      errorText({
        status,
        message,
        hasSessionEnded,
      }),
    ).toEqual({ error, toast });
  });

  it('is that of an error of another kind, or says that it is unexpected', () => {
    expect(errorMessage(new Error('A strange thing.'))).toBe('A strange thing.');
    expect(errorMessage(new Error(''))).toBe('An unexpected error occurred');
    expect(errorMessage(new Error('A strange thing.'), 'What failed.')).toBe('What failed.');
  });
});
