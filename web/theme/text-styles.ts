import { defineTextStyles } from '@pandacss/dev';

const heading = {
  fontFamily: 'heading',
  fontWeight: 'normal',
  letterSpacing: 'tight',
  textWrap: 'balance',
  fontVariantNumeric: 'lining-nums',
};

export const textStyles = defineTextStyles({
  display: { value: { ...heading, fontSize: '4xl', lineHeight: 'tight' } },
  title: { value: { ...heading, fontSize: '3xl', lineHeight: 'tight' } },
  heading: { value: { ...heading, fontSize: '2xl', lineHeight: 'snug' } },
  subheading: { value: { ...heading, fontSize: 'xl', lineHeight: 'snug' } },
  /** For numbers that people compare, since the heading font has old-style figures. */
  figure: {
    value: {
      fontSize: '3xl',
      fontWeight: 'bold',
      lineHeight: 'tight',
      letterSpacing: 'tight',
      fontVariantNumeric: 'tabular-nums',
    },
  },
  lead: { value: { fontSize: 'lg', lineHeight: 'normal', textWrap: 'pretty' } },
  body: { value: { fontSize: 'md', lineHeight: 'normal' } },
  small: { value: { fontSize: 'sm', lineHeight: 'normal' } },
  fine: { value: { fontSize: 'xs', lineHeight: 'normal' } },
});
