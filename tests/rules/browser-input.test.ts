import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanCode, cleanPhone, codeError } from '../../web/rules/sign-in-rules.ts';
import { formatDate, formatTime, formatPhone } from '../../web/rules/formats.ts';
import { errorMessage, errorText } from '../../web/data/api-errors.ts';

describe('input', () => {
  describe('a typed number', () => {
    it.each(['+1 (555) 123-4567', '+1.555.123.4567', '+1\u00a0555\u2011123\u20134567', ' +15551234567 '])(
      '%s',
      (typed) => {
        expect(cleanPhone(typed)).toBe('+15551234567');
      },
    );

    it('keeps what is wrong with it', () => {
      expect(cleanPhone('+1 555 CALL-ME')).toBe('+1555CALLME');
    });
  });

  describe('a typed code', () => {
    it('loses spaces and dashes and ends after six', () => {
      expect(cleanCode('123 456')).toBe('123456');
      expect(cleanCode('123-456 7')).toBe('123456');
    });

    it('is a problem when it holds letters, or when it was left too short', () => {
      expect(codeError('', true)).toBeUndefined();
      expect(codeError('12a', false)).toBe('OTP must contain only numbers');
      expect(codeError('123', false)).toBeUndefined();
      expect(codeError('123', true)).toBe('OTP must be exactly 6 digits');
      expect(codeError('123456', true)).toBeUndefined();
    });
  });

  describe('a shown number', () => {
    it.each([
      ['+15551234567', '+1 555-123-4567'],
      ['+447911123456', '+44 791-112-3456'],
      ['+4930123456', '+4930123456'],
      [null, 'Invalid Number'],
      ['', 'Invalid Number'],
    ])('%s', (phone, shown) => {
      expect(formatPhone(phone)).toBe(shown);
    });
  });

  describe('a shown date', () => {
    it.each([
      ['2025-01-05T00:00:00Z', 'January 5, 2025'],
      [null, 'an unknown date'],
      ['soon', 'an unknown date'],
    ])('%s', (iso, shown) => {
      expect(formatDate(iso, 'UTC')).toBe(shown);
    });

    it('is the day where the reader is', () => {
      expect(formatDate('2025-01-05T02:00:00Z', 'America/New_York')).toBe('January 4, 2025');
    });

    it('and its time are the ones of the platform, for every minute', () => {
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
  });
});

describe('the text of an error', () => {
  it.each([
    [401, undefined, true, 'Session expired. Please log in again.', 'Session expired. Please log in again.'],
    [
      401,
      'Invalid code. Please try again.',
      false,
      'Invalid code. Please try again.',
      'Invalid code. Please try again.',
    ],
    [403, 'Not yours', true, 'Permission denied', 'Not yours'],
    [403, undefined, true, 'Permission denied', 'You do not have permission to perform this action'],
    [404, 'Not found', true, 'Resource not found', null],
    [429, 'Slow down', true, 'Rate limit exceeded', 'Too many requests. Please try again later.'],
    [500, 'x', true, 'Server error. Please try again later.', 'Server error. Please try again later.'],
    [502, 'x', true, 'Server error. Please try again later.', 'Server error. Please try again later.'],
    [503, 'x', true, 'Server error. Please try again later.', 'Server error. Please try again later.'],
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
