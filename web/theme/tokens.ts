import { defineTokens } from '@pandacss/dev';
import { palette } from './palette.ts';

const rem = (value: number) => ({ value: `${value}rem` });

export const tokens = defineTokens({
  colors: palette,
  fonts: {
    heading: { value: "'Young Serif', 'Young Serif Fallback', Georgia, serif" },
    text: { value: "'Figtree Variable', 'Figtree Fallback', system-ui, sans-serif" },
    mono: { value: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace' },
  },
  fontSizes: {
    xs: rem(0.8125),
    sm: rem(0.9375),
    md: rem(1.0625),
    lg: rem(1.1875),
    xl: rem(1.375),
    '2xl': { value: 'clamp(1.5rem, 1.3rem + 0.9vw, 1.875rem)' },
    '3xl': { value: 'clamp(1.875rem, 1.5rem + 1.7vw, 2.625rem)' },
    '4xl': { value: 'clamp(2.375rem, 1.7rem + 3.1vw, 3.75rem)' },
  },
  fontWeights: { normal: { value: 400 }, medium: { value: 500 }, semibold: { value: 600 }, bold: { value: 700 } },
  lineHeights: { tight: { value: 1.14 }, snug: { value: 1.3 }, normal: { value: 1.6 } },
  letterSpacings: { tight: { value: '-0.015em' }, wide: { value: '0.06em' }, code: { value: '0.4em' } },
  spacing: {
    '0': { value: '0' },
    '1': rem(0.25),
    '2': rem(0.5),
    '3': rem(0.75),
    '4': rem(1),
    '5': rem(1.25),
    '6': rem(1.5),
    '8': rem(2),
    '10': rem(2.5),
    '12': rem(3),
    '16': rem(4),
    '20': rem(5),
    gutter: { value: 'clamp(1rem, 4vw, 2.5rem)' },
    section: { value: 'clamp(3.5rem, 8vw, 7rem)' },
  },
  sizes: {
    full: { value: '100%' },
    touch: rem(2.75),
    form: rem(27),
    reading: rem(44),
    page: rem(72),
  },
  radii: { sm: rem(0.5), md: rem(0.875), lg: rem(1.5), full: { value: '999px' } },
  borderWidths: { thin: { value: '1px' }, thick: { value: '2px' } },
  durations: { fast: { value: '140ms' }, normal: { value: '260ms' }, breath: { value: '9s' } },
  easings: { out: { value: 'cubic-bezier(0.2, 0.8, 0.2, 1)' }, breath: { value: 'cubic-bezier(0.45, 0, 0.55, 1)' } },
  zIndex: { header: { value: 10 }, overlay: { value: 20 }, toast: { value: 30 } },
});
