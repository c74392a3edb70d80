import { defineRecipe } from '@pandacss/dev';

export const badge = defineRecipe({
  className: 'badge',
  base: {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '1',
    width: '[fit-content]',
    paddingInline: '3',
    paddingBlock: '1',
    borderRadius: 'full',
    borderWidth: 'thin',
    borderColor: 'transparent',
    fontSize: 'xs',
    fontWeight: 'semibold',
    lineHeight: 'snug',
    whiteSpace: 'nowrap',
    _forced: { borderColor: 'CanvasText' },
  },
  variants: {
    look: {
      calm: { backgroundColor: 'primarySoft', color: 'primary' },
      warm: { backgroundColor: 'warmSoft', color: 'onWarmSoft' },
    },
  },
  defaultVariants: { look: 'calm' },
});
