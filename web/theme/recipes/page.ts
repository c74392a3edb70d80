import { defineRecipe } from '@pandacss/dev';

export const page = defineRecipe({
  className: 'page',
  base: { width: 'full', marginInline: 'auto', paddingInline: 'gutter', paddingBlock: { base: '10', md: '16' } },
  variants: { width: { page: { maxWidth: 'page' }, reading: { maxWidth: '[50rem]' }, form: { maxWidth: '[33rem]' } } },
  defaultVariants: { width: 'page' },
});
