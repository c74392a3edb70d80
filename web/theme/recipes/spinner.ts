import { defineRecipe } from '@pandacss/dev';

/** A rotating ring; with reduced motion it fades instead. */
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
