import { defineSemanticTokens } from '@pandacss/dev';

const pair = (light: string, dark: string) => ({ value: `light-dark({colors.${light}}, {colors.${dark}})` });

export const semanticTokens = defineSemanticTokens({
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
