import { defineTokens, defineSemanticTokens, defineTextStyles } from '@pandacss/dev';
import { palette } from './palette.ts';

const rem = (value: number) => ({ value: `${value}rem` });

export const tokens = defineTokens({
  colors: palette,
  fonts: {
    heading: { value: "'Young Serif', Georgia, serif" },
    text: { value: "'Figtree Variable', system-ui, sans-serif" },
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
  fontWeights: {
    normal: { value: 400 },
    medium: { value: 500 },
    semibold: { value: 600 },
    bold: { value: 700 },
  },
  lineHeights: { tight: { value: 1.14 }, snug: { value: 1.3 }, normal: { value: 1.6 } },
  letterSpacings: { code: { value: '0.4em' } },
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
    gutter: { value: 'clamp(1rem, 4vw, 2.5rem)' },
    section: { value: 'clamp(3.5rem, 8vw, 7rem)' },
  },
  sizes: {
    full: { value: '100%' },
    touch: rem(2.75),
    reading: rem(44),
    page: rem(72),
  },
  radii: { sm: rem(0.5), md: rem(0.875), lg: rem(1.5), full: { value: '999px' } },
  borderWidths: { thin: { value: '1px' }, thick: { value: '2px' } },
  durations: { fast: { value: '140ms' } },
  zIndex: { header: { value: 10 }, toast: { value: 30 } },
});

const pair = (light: string, dark: string) => ({
  value: `light-dark({colors.${light}}, {colors.${dark}})`,
});

export const semanticTokens = defineSemanticTokens({
  // The letters of Arabic are joined.
  letterSpacings: { tight: { value: { base: '-0.015em', _rtl: '0' } } },
  colors: {
    paper: pair('mist.100', 'spruce.950'),
    surface: pair('mist.50', 'spruce.900'),
    raised: pair('white', 'spruce.850'),
    sunken: pair('mist.200', 'spruce.800'),
    text: pair('ink', 'snow'),
    muted: pair('mist.600', 'mist.400'),
    line: pair('mist.300', 'spruce.800'),
    edge: pair('mist.500', 'mist.500'),
    primary: pair('spruce.600', 'spruce.300'),
    primaryHover: pair('spruce.700', 'spruce.200'),
    onPrimary: pair('white', 'spruce.950'),
    primarySoft: pair('spruce.100', 'spruce.800'),
    warm: pair('apricot.400', 'apricot.300'),
    warmSoft: pair('apricot.100', 'apricot.900'),
    onWarmSoft: pair('apricot.800', 'apricot.200'),
    danger: pair('rose.600', 'rose.300'),
    dangerSoft: pair('rose.100', 'rose.900'),
    onDanger: pair('white', 'spruce.950'),
    focus: pair('apricot.600', 'apricot.300'),
    scene: {
      sky: pair('apricot.100', 'spruce.900'),
      glow: pair('apricot.200', 'apricot.900'),
      sun: pair('apricot.400', 'apricot.300'),
      far: pair('spruce.200', 'spruce.800'),
      middle: pair('spruce.300', 'spruce.700'),
      near: pair('spruce.500', 'spruce.600'),
      spoken: pair('apricot.100', 'apricot.200'),
      onSpoken: pair('apricot.800', 'apricot.900'),
      answered: pair('white', 'snow'),
      onAnswered: pair('ink', 'ink'),
      front: pair('spruce.600', 'spruce.850'),
    },
  },
  shadows: {
    card: {
      value:
        '0 1px 2px light-dark(rgb(19 46 40 / 0.05), rgb(0 0 0 / 0.3)), 0 12px 32px -16px light-dark(rgb(19 46 40 / 0.18), rgb(0 0 0 / 0.6))',
    },
    float: {
      value:
        '0 2px 6px light-dark(rgb(19 46 40 / 0.08), rgb(0 0 0 / 0.4)), 0 24px 56px -20px light-dark(rgb(19 46 40 / 0.3), rgb(0 0 0 / 0.8))',
    },
  },
});

const heading = {
  fontFamily: 'heading',
  fontWeight: 'normal',
  letterSpacing: 'tight',
  textWrap: 'balance',
  fontVariantNumeric: 'lining-nums',
};

export const textStyles = defineTextStyles({
  display: { value: { ...heading, fontSize: '4xl', lineHeight: 'tight' } },
  title: { value: { ...heading, fontSize: '3xl', lineHeight: 'tight' } },
  heading: { value: { ...heading, fontSize: '2xl', lineHeight: 'snug' } },
  subheading: { value: { ...heading, fontSize: 'xl', lineHeight: 'snug' } },
  /** The heading font has old-style figures. */
  figure: {
    value: {
      fontSize: '3xl',
      fontWeight: 'bold',
      lineHeight: 'tight',
      letterSpacing: 'tight',
      fontVariantNumeric: 'tabular-nums',
    },
  },
  lead: { value: { fontSize: 'lg', lineHeight: 'normal', textWrap: 'pretty' } },
  body: { value: { fontSize: 'md', lineHeight: 'normal' } },
  small: { value: { fontSize: 'sm', lineHeight: 'normal' } },
  fine: { value: { fontSize: 'xs', lineHeight: 'normal' } },
});
