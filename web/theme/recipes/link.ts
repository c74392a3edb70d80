import { defineRecipe } from '@pandacss/dev';

export const link = defineRecipe({
  className: 'link',
  base: {
    color: 'primary',
    fontWeight: 'medium',
    textDecoration: 'underline',
    textUnderlineOffset: '0.2em',
    textDecorationThickness: '1px',
    borderRadius: 'sm',
    cursor: 'pointer',
    _hover: { textDecorationThickness: '2px' },
  },
});
