import { LocaleProvider } from '@ark-ui/react/locale';
import type { ReactNode } from 'react';
import { isRightToLeft, locale } from '#words/language';

/** Gives components of Ark UI the direction of the page: without it they write `dir="ltr"` into their elements. */
export function TextDirection({ children }: { children: ReactNode }) {
  return isRightToLeft ? <LocaleProvider locale={locale}>{children}</LocaleProvider> : children;
}
