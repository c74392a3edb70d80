import { expect, it } from 'vitest';
import { countryOfPhone } from '../../web/rules/phone-country.ts';
import { helpLines } from '../../worker/contract/help-lines.ts';

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
