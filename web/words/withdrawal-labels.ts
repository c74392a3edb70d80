import type { Language } from '#contract/languages';

/** `confirm` is all that may stand on the button. */
type Labels = { withdraw: string; confirm: string };

/** The wording is the law's (Directive 2011/83/EU, article 11a): a lawyer changes it, no translation. */
export const withdrawalLabels: Record<Language, Labels> = {
  en: { withdraw: 'Withdraw from contract', confirm: 'Confirm withdrawal' },
  es: { withdraw: 'Desistir del contrato', confirm: 'Confirmar desistimiento' },
  'pt-BR': { withdraw: 'Desistir do contrato', confirm: 'Confirmar desistência' },
};
