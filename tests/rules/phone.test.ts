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
    ['an Argentinian mobile as WhatsApp spells it', '+5491123456789', '+541123456789'],
    ['a Brazilian mobile without its ninth digit', '+551187654321', '+5511987654321'],
    ['one of the highest area and the lowest mobile digit', '+559961234567', '+5599961234567'],
    ['a Brazilian landline', '+551123334444', '+551123334444'],
    ['another one', '+552157654321', '+552157654321'],
    ['a number of the United States', '+15551234567', '+15551234567'],
    ['a German number that begins like a Mexican one', '+4915212345678', '+4915212345678'],
  ])('%s', (_, spelled, canonical) => {
    expect(canonicalPhone(spelled)).toBe(canonical);
    expect(canonicalPhone(canonical)).toBe(canonical);
  });
});

describe('every number', () => {
  const phone = fc.oneof(
    fc.stringMatching(/^\+[1-9]\d{8,14}$/),
    fc.stringMatching(/^\+(1|49|52|521|54|549|55)\d{8,12}$/),
  );

  it('keeps its country and its last eight digits, is taken by the API as before, and has one canonical spelling', () => {
    fc.assert(
      fc.property(phone, (spelled) => {
        const canonical = canonicalPhone(spelled);
        expect(canonicalPhone(canonical)).toBe(canonical);
        if (v.is(Phone, spelled)) expect(v.is(Phone, canonical)).toBe(true);
        const respelled = ['+52', '+54', '+55'].some((code) => spelled.startsWith(code) && canonical.startsWith(code));
        expect(canonical === spelled || respelled).toBe(true);
        // No two people become one by them.
        expect(canonical.slice(-8)).toBe(spelled.slice(-8));
      }),
      { numRuns: 2000 },
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

  const elsewhere = ['+18005551234', '+79161234567', '+2348012345678', '+4512345678'];
  it.each([...elsewhere, '15551234567', '+0123456789', '+1', '', '988'])('says nothing about %j', (phone) => {
    expect(countryOfPhone(phone)).toBeUndefined();
  });

  it.each(Object.keys(helpLines))('knows a calling code of %s, which has a line', (country) => {
    const found = Array.from({ length: 999 }, (_, code) => countryOfPhone(`+${code + 1}2045551234`));
    expect(found).toContain(country);
  });
});
