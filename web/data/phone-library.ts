import { numberingPlans } from '#contract/numbering-plans';
import parseNumber, { PhoneNumber } from 'libphonenumber-js/core';
import metadata from 'libphonenumber-js/min/metadata';

/** This file is a chunk of its own, since it brings the library. */
export const parse = (phone: string) => parseNumber(phone, metadata);
export const describe = (phone: string) => new PhoneNumber(phone, metadata);

export const phonePlans = numberingPlans({ parse, describe });
