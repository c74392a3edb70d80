import { defineRecipe } from '@pandacss/dev';

export const alert = defineRecipe({
  className: 'alert',
  base: {
    display: 'flex',
    gap: '3',
    alignItems: 'flex-start',
    padding: '4',
    borderRadius: 'md',
    borderWidth: 'thin',
    textStyle: 'small',
    textAlign: 'start',
  },
  variants: {
    look: {
      calm: { backgroundColor: 'primarySoft', borderColor: 'transparent', color: 'text' },
      warm: { backgroundColor: 'warmSoft', borderColor: 'transparent', color: 'onWarmSoft' },
      danger: { backgroundColor: 'dangerSoft', borderColor: 'danger', color: 'danger' },
    },
  },
  defaultVariants: { look: 'calm' },
  // The component passes the variant on, and Panda cannot read its values there.
  staticCss: ['*'],
});
