import { defineSlotRecipe } from '@pandacss/dev';

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
      '&:has(:focus-visible)': { outline: '3px solid', outlineColor: 'focus', outlineOffset: '3px' },
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
