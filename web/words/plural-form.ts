import { locale } from '#words/language';

let rules: Intl.PluralRules | undefined;

export function pluralForm(count: number): Intl.LDMLPluralRule {
  rules ??= new Intl.PluralRules(locale);
  return rules.select(count);
}
