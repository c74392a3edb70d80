import { defineSlotRecipe } from '@pandacss/dev';

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
  '&[data-invalid]': { borderColor: 'danger', borderWidth: 'thick' },
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
