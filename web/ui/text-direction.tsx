import { LocaleProvider } from '@ark-ui/react/locale';
import type { ReactNode } from 'react';
import { isRightToLeft, locale } from '#words/language';

/** Without it Ark UI writes `dir="ltr"`. */
export function TextDirection({ children }: { children: ReactNode }) {
  return isRightToLeft ? <LocaleProvider locale={locale}>{children}</LocaleProvider> : children;
}
