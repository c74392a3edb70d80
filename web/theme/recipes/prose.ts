import { defineRecipe } from '@pandacss/dev';

export const prose = defineRecipe({
  className: 'prose',
  base: {
    maxWidth: 'reading',
    textStyle: 'body',
    '& h2': { textStyle: 'subheading', marginTop: '10', marginBottom: '3' },
    '& p': { marginBottom: '4' },
    '& ul': { listStyle: 'disc', paddingInlineStart: '6', marginBottom: '4' },
    '& li': { marginBottom: '2' },
    '& li::marker': { color: 'primary' },
    '& a': { textDecoration: 'underline', textUnderlineOffset: '0.2em', color: 'primary' },
    _print: { maxWidth: 'none', fontSize: '[11pt]', '& h2': { breakAfter: 'avoid' } },
  },
});

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

/** What nobody sees is not copied; `onPaper` is printed. */
export const spoken = defineRecipe({
  className: 'spoken',
  base: {
    position: 'absolute',
    width: '[1px]',
    height: '[1px]',
    overflow: 'hidden',
    clipPath: 'inset(50%)',
    whiteSpace: 'nowrap',
    userSelect: 'none',
  },
  variants: {
    onPaper: {
      true: {
        _print: {
          position: 'static',
          width: 'auto',
          height: 'auto',
          overflow: 'visible',
          clipPath: 'none',
          fontWeight: 'semibold',
        },
      },
    },
  },
});
