import { defineRecipe } from '@pandacss/dev';

export const button = defineRecipe({
  className: 'button',
  base: {
    display: 'inline-flex',
    alignItems: 'center',
    justifyContent: 'center',
    gap: '2',
    minHeight: 'touch',
    paddingInline: '5',
    paddingBlock: '2',
    borderRadius: 'full',
    borderWidth: 'thin',
    borderColor: 'transparent',
    fontSize: 'sm',
    fontWeight: 'semibold',
    lineHeight: 'snug',
    textAlign: 'center',
    cursor: 'pointer',
    transitionProperty: 'background-color, border-color, color, transform',
    transitionDuration: 'fast',
    _active: { _calm: { transform: 'scale(0.98)' } },
    _disabled: { cursor: 'not-allowed', opacity: '0.55' },
    _forced: { borderColor: 'ButtonText' },
    _print: { display: 'none' },
  },
  variants: {
    look: {
      primary: { backgroundColor: 'primary', color: 'onPrimary', _hover: { backgroundColor: 'primaryHover' } },
      soft: { backgroundColor: 'primarySoft', color: 'primary', _hover: { borderColor: 'primary' } },
      outline: {
        borderColor: 'edge',
        color: 'text',
        _hover: { backgroundColor: 'primarySoft', borderColor: 'primary' },
      },
      quiet: { color: 'text', _hover: { backgroundColor: 'primarySoft' } },
      danger: { backgroundColor: 'danger', color: 'onDanger', _hover: { opacity: '0.9' } },
      dangerSoft: { backgroundColor: 'dangerSoft', color: 'danger', _hover: { borderColor: 'danger' } },
    },
    size: {
      md: {},
      lg: { minHeight: '[3.375rem]', paddingInline: { base: '5', sm: '8' }, fontSize: 'md' },
      icon: { width: 'touch', paddingInline: '0' },
    },
    wide: { true: { width: 'full' } },
  },
  defaultVariants: { look: 'primary', size: 'md' },
});
