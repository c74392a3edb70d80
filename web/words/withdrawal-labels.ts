import type { Language } from '#contract/languages';

/** `confirm` is the whole text of the button, and nothing else may stand on it. */
type Labels = { withdraw: string; confirm: string };

/**
 * The labels of the function by which people withdraw (Directive 2011/83/EU, article 11a). They follow the wording of the
 * law in each language, so that a lawyer changes them here, and no translation does.
 */
export const withdrawalLabels: Record<Language, Labels> = {
  en: { withdraw: 'Withdraw from contract', confirm: 'Confirm withdrawal' },
  es: { withdraw: 'Desistir del contrato', confirm: 'Confirmar desistimiento' },
  'pt-BR': { withdraw: 'Desistir do contrato', confirm: 'Confirmar desistência' },
};
