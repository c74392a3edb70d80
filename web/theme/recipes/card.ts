import { defineRecipe } from '@pandacss/dev';

export const card = defineRecipe({
  className: 'card',
  base: {
    display: 'flex',
    flexDirection: 'column',
    gap: '4',
    padding: { base: '5', md: '6' },
    borderRadius: 'lg',
    borderWidth: 'thin',
    borderColor: 'line',
    backgroundColor: 'surface',
  },
  variants: {
    look: {
      plain: {},
      raised: { backgroundColor: 'raised', boxShadow: 'card' },
      featured: {
        backgroundColor: 'raised',
        boxShadow: 'float',
        borderColor: 'primary',
        outline: '1px solid',
        outlineColor: 'primary',
      },
    },
  },
  defaultVariants: { look: 'plain' },
});
