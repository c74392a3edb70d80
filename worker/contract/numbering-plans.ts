import type { NumberingPlans } from './pasted.ts';

type Described = {
  number: string;
  countryCallingCode: string;
  nationalNumber: string;
  isValid(): boolean;
  isPossible(): boolean;
  formatInternational(): string;
};

type Library = {
  /** Without the prefixes that are dialled inside the country. */
  parse: (phone: string) => Described | undefined;
  /** Throws if no country has the calling code. */
  describe: (phone: string) => Described;
};

export function numberingPlans({ parse, describe }: Library): NumberingPlans {
  const described = (phone: string) => {
    try {
      return describe(phone);
    } catch {
      return undefined;
    }
  };
  const isAssigned = (phone: string) => described(phone)?.isValid() === true;
  const isPossible = (phone: string) => described(phone)?.isPossible() === true;

  return {
    isPossible,
    grouped: (phone) => described(phone)?.formatInternational() ?? null,
    withoutTrunkPrefix(phone) {
      const shorter = withoutOnePrefix(phone);
      return shorter === phone ? phone : this.withoutTrunkPrefix(shorter);
    },
  };

  function withoutOnePrefix(phone: string): string {
    const typed = described(phone);
    if (!typed || typed.isValid()) return phone;
    const others = [parse(phone)?.number, withoutZero(typed), withoutFormerPrefix(phone)]
      .filter((other) => other !== undefined)
      .filter(({ length }) => length < phone.length && length >= shortest);
    const assigned = others.find(isAssigned);
    if (assigned) return assigned;
    return typed.isPossible() ? phone : (others.find(isPossible) ?? phone);
  }
}

/** A plus and nine digits, as the rule of `Phone` requires. */
const shortest = 10;

/** Some people write a zero where there is no prefix any more. */
function withoutZero({ countryCallingCode, nationalNumber }: Described): string | undefined {
  if (!nationalNumber.startsWith('0')) return undefined;
  return `+${countryCallingCode}${nationalNumber.slice(1)}`;
}

function withoutFormerPrefix(phone: string): string | undefined {
  const mexico = /^\+52(?:01|04[45])(\d{10})$/.exec(phone);
  return mexico ? `+52${mexico[1]}` : undefined;
}

export function mayHoldTrunkPrefix(phone: string): boolean {
  const national = phone.replace(callingCode, '');
  return /^[018]/.test(national) || national.length > 10;
}

const callingCode = /^\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|[2-9]\d\d)/;
