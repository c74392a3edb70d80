import { expect, it } from 'vitest';
import { newCode } from '../../worker/sign-in/one-time-code.ts';

it('is six digits, leading zeros kept, and spread evenly', () => {
  const codes = Array.from({ length: 20_000 }, newCode);
  expect(codes.every((code) => /^\d{6}$/.test(code))).toBe(true);
  const byFirstDigit = Object.values(Object.groupBy(codes, (code) => code[0]!)).map((group) => group!.length);
  expect(byFirstDigit).toHaveLength(10);
  for (const count of byFirstDigit) expect(Math.abs(count - 2000)).toBeLessThan(300);
});
