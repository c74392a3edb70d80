import { defineRecipe } from '@pandacss/dev';

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
