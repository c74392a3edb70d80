import { defineSlotRecipe } from '@pandacss/dev';

export const toast = defineSlotRecipe({
  className: 'toast',
  slots: ['root', 'sign', 'text', 'title', 'description', 'close'],
  base: {
    root: {
      display: 'flex',
      alignItems: 'flex-start',
      gap: '3',
      width: '[min(24rem, calc(100vw - 2rem))]',
      padding: '4',
      borderRadius: 'md',
      borderWidth: 'thin',
      borderColor: 'line',
      backgroundColor: 'raised',
      boxShadow: 'float',
      height: 'var(--height)',
      opacity: 'var(--opacity)',
      scale: 'var(--scale)',
      translate: 'var(--x) var(--y)',
      zIndex: 'var(--z-index)',
      _calm: { transition: '[translate 300ms, scale 300ms, opacity 300ms, height 300ms]' },
    },
    sign: { color: 'primary', fontSize: 'lg', '[data-type=error] > &': { color: 'danger' } },
    text: { flex: '1', minWidth: '[0]' },
    title: { fontSize: 'sm', fontWeight: 'semibold' },
    description: { textStyle: 'small', color: 'muted' },
    close: {
      display: 'grid',
      placeItems: 'center',
      width: '[2rem]',
      height: '[2rem]',
      borderRadius: 'full',
      color: 'muted',
      _hover: { backgroundColor: 'primarySoft' },
    },
  },
});
