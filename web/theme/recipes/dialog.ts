import { defineSlotRecipe } from '@pandacss/dev';

export const dialog = defineSlotRecipe({
  className: 'dialog',
  slots: ['backdrop', 'positioner', 'content', 'title', 'description', 'actions'],
  base: {
    backdrop: {
      position: 'fixed',
      inset: '0',
      zIndex: 'overlay',
      backgroundColor: '[rgb(8 18 16 / 0.6)]',
      _open: { _calm: { animation: '[appear 200ms]' } },
    },
    positioner: {
      position: 'fixed',
      inset: '0',
      zIndex: 'overlay',
      display: 'grid',
      placeItems: 'center',
      padding: '4',
      overflowY: 'auto',
    },
    content: {
      display: 'flex',
      flexDirection: 'column',
      gap: '4',
      width: 'full',
      maxWidth: '[30rem]',
      padding: '6',
      borderRadius: 'lg',
      borderWidth: 'thin',
      borderColor: 'line',
      backgroundColor: 'raised',
      boxShadow: 'float',
      _open: { _calm: { animation: '[rise 240ms cubic-bezier(0.2, 0.8, 0.2, 1)]' } },
    },
    title: { textStyle: 'heading' },
    description: { color: 'muted' },
    actions: { display: 'flex', flexWrap: 'wrap', gap: '3', justifyContent: 'flex-end' },
  },
});
