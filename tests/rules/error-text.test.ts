import { expect, it } from 'vitest';
import { errorText } from '../../web/data/api-errors.ts';

it.each([
  [401, undefined, true, 'Session expired. Please log in again.', 'Session expired. Please log in again.'],
  [401, 'Invalid code. Please try again.', false, 'Invalid code. Please try again.', 'Invalid code. Please try again.'],
  [403, 'Not yours', true, 'Permission denied', 'Not yours'],
  [403, undefined, true, 'Permission denied', 'You do not have permission to perform this action'],
  [404, 'Not found', true, 'Resource not found', null],
  [429, 'Slow down', true, 'Rate limit exceeded', 'Too many requests. Please try again later.'],
  [500, 'x', true, 'Server error. Please try again later.', 'Server error. Please try again later.'],
  [502, 'x', true, 'Server error. Please try again later.', 'Server error. Please try again later.'],
  [503, 'x', true, 'Server error. Please try again later.', 'Server error. Please try again later.'],
  [409, 'In the way', true, 'In the way', 'In the way'],
  [418, undefined, true, 'Request failed with status 418', 'Request failed with status 418'],
])('%i with %s (protected: %s)', (status, message, isProtected, error, notice) => {
  expect(errorText(status, message, isProtected)).toEqual({ error, notice });
});
