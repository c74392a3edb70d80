import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanCode, cleanPhone, codeError } from '../../web/rules/sign-in-rules.ts';
import { formatDate, formatTime, formatPhone } from '../../web/rules/formats.ts';
import { errorMessage, errorText } from '../../web/data/api-errors.ts';

it.each([
  ['+1 (555) 123-4567', '+15551234567'],
  ['+1.555.123.4567', '+15551234567'],
  ['+1\u00a0555\u2011123\u20134567', '+15551234567'],
  [' +15551234567 ', '+15551234567'],
  ['+1 555 CALL-ME', '+1555CALLME'],
])('a typed number %s is %s, with what is wrong with it', (typed, phone) => {
  expect(cleanPhone(typed)).toBe(phone);
});

it('a typed code loses spaces and dashes and ends after six', () => {
  expect(cleanCode('123 456')).toBe('123456');
  expect(cleanCode('123-456 7')).toBe('123456');
});

it.each([
  ['', true, undefined],
  ['12a', false, 'OTP must contain only numbers'],
  ['123', false, undefined],
  ['123', true, 'OTP must be exactly 6 digits'],
  ['123456', true, undefined],
])('the problem of the code “%s” (left: %s) is %s', (code, left, problem) => {
  expect(codeError(code, left)).toBe(problem);
});

it.each([
  ['+15551234567', '+1 555-123-4567'],
  ['+447911123456', '+44 791-112-3456'],
  ['+4930123456', '+4930123456'],
  [null, 'Invalid Number'],
  ['', 'Invalid Number'],
])('the number %s is shown as %s', (phone, shown) => {
  expect(formatPhone(phone)).toBe(shown);
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
  const anyMinute = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(anyMinute, (date) => {
      const day = { year: 'numeric', month: 'long', day: 'numeric' } as const;
      expect(formatDate(date.toISOString())).toBe(date.toLocaleDateString('en-US', day));
      const time = date.toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' });
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
    [403, 'Not yours', true, 'Permission denied', 'Not yours'],
    [403, undefined, true, 'Permission denied', forbidden],
    [404, 'Not found', true, 'Resource not found', null],
    [429, 'Slow down', true, 'Rate limit exceeded', 'Too many requests. Please try again later.'],
    [500, 'x', true, broken, broken],
    [502, 'x', true, broken, broken],
    [503, 'x', true, broken, broken],
    [409, 'In the way', true, 'In the way', 'In the way'],
    [418, undefined, true, 'Request failed with status 418', 'Request failed with status 418'],
    [504, undefined, true, 'Request failed with status 504', 'Request failed with status 504'],
  ])('%i with %s (protected: %s)', (status, message, isProtected, error, toast) => {
    expect(errorText(status, message, isProtected)).toEqual({ error, toast });
  });

  it('is that of an error of another kind, or says that it is unexpected', () => {
    expect(errorMessage(new Error('A strange thing.'))).toBe('A strange thing.');
    expect(errorMessage(new Error(''))).toBe('An unexpected error occurred');
    expect(errorMessage(new Error('A strange thing.'), 'What failed.')).toBe('What failed.');
  });
});
