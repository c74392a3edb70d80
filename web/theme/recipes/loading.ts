import { defineRecipe, defineSlotRecipe } from '@pandacss/dev';

/** With reduced motion it fades. */
export const spinner = defineRecipe({
  className: 'spinner',
  base: {
    flexShrink: '0',
    width: '[2.5rem]',
    height: '[2.5rem]',
    borderRadius: 'full',
    borderWidth: '[3px]',
    borderColor: 'primarySoft',
    borderTopColor: 'primary',
    animation: '[pulse 2s ease-in-out infinite]',
    _calm: { animation: '[spin 900ms linear infinite]' },
  },
  variants: {
    size: {
      md: {},
      sm: {
        width: '[1.125rem]',
        height: '[1.125rem]',
        borderWidth: 'thick',
        borderColor: 'current',
        borderTopColor: 'transparent',
      },
    },
  },
  defaultVariants: { size: 'md' },
});

export const skeleton = defineRecipe({
  className: 'skeleton',
  base: {
    display: 'block',
    borderRadius: 'sm',
    backgroundColor: 'sunken',
    color: 'transparent',
    userSelect: 'none',
    _calm: { animation: '[pulse 1.6s ease-in-out infinite]' },
    _forced: { borderWidth: 'thin' },
  },
});

export const progress = defineSlotRecipe({
  className: 'progress',
  slots: ['root', 'label', 'value', 'track', 'range'],
  base: {
    root: {
      display: 'grid',
      gridTemplateColumns: '1fr auto',
      gap: '2',
      alignItems: 'baseline',
      '&[data-loading] > *': {
        color: 'transparent',
        backgroundColor: 'sunken',
        borderRadius: 'sm',
        justifySelf: 'start',
        _calm: { animation: '[pulse 1.6s ease-in-out infinite]' },
      },
      '&[data-loading] > * > *': { visibility: 'hidden' },
      '&[data-loading] > :last-child': { justifySelf: 'stretch', borderRadius: 'full' },
    },
    label: { textStyle: 'small', color: 'muted' },
    value: { fontWeight: 'semibold', fontVariantNumeric: 'tabular-nums' },
    track: {
      gridColumn: '1 / -1',
      height: '[0.75rem]',
      borderRadius: 'full',
      backgroundColor: 'sunken',
      overflow: 'hidden',
      _forced: { borderWidth: 'thin', borderColor: 'CanvasText' },
    },
    range: {
      height: 'full',
      minWidth: '[0.375rem]',
      borderRadius: 'full',
      backgroundColor: 'primary',
      _calm: { transition: '[width 600ms cubic-bezier(0.2, 0.8, 0.2, 1)]' },
      _forced: { backgroundColor: 'Highlight', forcedColorAdjust: 'none' },
      '&[data-full]': { backgroundColor: 'warm' },
    },
  },
});
