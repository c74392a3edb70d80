import { locale } from '#words/language';

const rules = /* @__PURE__ */ new Intl.PluralRules(locale);

export const pluralForm = (count: number): Intl.LDMLPluralRule => rules.select(count);
