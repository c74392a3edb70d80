import { defineRecipe, defineSlotRecipe } from '@pandacss/dev';

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
      primary: {
        backgroundColor: 'primary',
        color: 'onPrimary',
        _hover: { backgroundColor: 'primaryHover' },
      },
      soft: {
        backgroundColor: 'primarySoft',
        color: 'primary',
        _hover: { borderColor: 'primary' },
      },
      outline: {
        borderColor: 'edge',
        color: 'text',
        _hover: { backgroundColor: 'primarySoft', borderColor: 'primary' },
      },
      quiet: { color: 'text', _hover: { backgroundColor: 'primarySoft' } },
      danger: { backgroundColor: 'danger', color: 'onDanger', _hover: { opacity: '0.9' } },
      dangerSoft: {
        backgroundColor: 'dangerSoft',
        color: 'danger',
        _hover: { borderColor: 'danger' },
      },
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

const control = {
  width: 'full',
  minHeight: '[3.25rem]',
  paddingInline: '4',
  paddingBlock: '3',
  borderWidth: 'thin',
  borderColor: 'edge',
  borderRadius: 'md',
  backgroundColor: 'raised',
  transitionProperty: 'border-color',
  transitionDuration: 'fast',
  _hover: { borderColor: 'primary' },
  _placeholder: { color: 'muted', opacity: '1' },
  _disabled: { cursor: 'not-allowed', opacity: '0.6' },
  '&[data-invalid]': {
    borderColor: 'danger',
    borderWidth: 'thick',
    _hover: { borderColor: 'danger' },
  },
};

export const field = defineSlotRecipe({
  className: 'field',
  slots: ['root', 'label', 'input', 'textarea', 'hint', 'error'],
  base: {
    root: { display: 'flex', flexDirection: 'column', gap: '2' },
    label: { fontSize: 'sm', fontWeight: 'semibold' },
    input: control,
    textarea: { ...control, minHeight: '[9rem]', resize: 'vertical' },
    hint: { textStyle: 'small', color: 'muted' },
    error: { textStyle: 'small', fontWeight: 'medium', color: 'danger' },
  },
  variants: {
    look: {
      plain: {},
      code: {
        input: {
          textStyle: 'heading',
          fontFamily: 'text',
          fontWeight: 'semibold',
          letterSpacing: 'code',
          textAlign: 'center',
          fontVariantNumeric: 'tabular-nums',
        },
      },
    },
  },
  defaultVariants: { look: 'plain' },
});

export const radioCards = defineSlotRecipe({
  className: 'radio-cards',
  slots: ['root', 'item', 'control', 'text'],
  base: {
    root: { display: 'flex', flexDirection: 'column', gap: '3' },
    item: {
      display: 'flex',
      alignItems: 'center',
      gap: '3',
      minHeight: 'touch',
      padding: '4',
      borderRadius: 'md',
      borderWidth: 'thin',
      borderColor: 'line',
      cursor: 'pointer',
      _hover: { borderColor: 'primary' },
      _checked: { borderColor: 'primary', backgroundColor: 'primarySoft' },
      '&[data-focus-visible]': {
        outline: '3px solid',
        outlineColor: 'focus',
        outlineOffset: '3px',
      },
    },
    control: {
      flexShrink: '0',
      width: '[1.25rem]',
      height: '[1.25rem]',
      borderRadius: 'full',
      borderWidth: 'thick',
      borderColor: 'edge',
      _checked: { borderWidth: '[6px]', borderColor: 'primary' },
    },
    text: { fontSize: 'sm', fontWeight: 'medium' },
  },
});
