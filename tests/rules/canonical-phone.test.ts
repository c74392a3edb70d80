import { expect, it } from 'vitest';
import { canonicalPhone } from '../../worker/accounts/phone.ts';

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
