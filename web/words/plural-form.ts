import { locale } from '#words/language';

let rules: Intl.PluralRules | undefined;

/** The plural form that the page's language uses for a number. */
export function pluralForm(count: number): Intl.LDMLPluralRule {
  rules ??= new Intl.PluralRules(locale);
  return rules.select(count);
}
