import { defineRecipe, defineSlotRecipe } from '@pandacss/dev';

export const page = defineRecipe({
  className: 'page',
  base: {
    width: 'full',
    marginInline: 'auto',
    // Large letters break, and the page grows no wider than the screen.
    gridTemplateColumns: '[minmax(0, 1fr)]',
    paddingInline: 'gutter',
    paddingBlock: { base: '10', md: '16' },
  },
  variants: {
    width: {
      page: { maxWidth: 'page' },
      reading: { maxWidth: '[50rem]' },
      form: { maxWidth: '[33rem]' },
    },
  },
  defaultVariants: { width: 'page' },
});

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
  // Panda cannot read the values of a passed variant.
  staticCss: ['*'],
});

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
    whiteSpace: { base: 'nowrap', _large: 'normal' },
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

export const dialog = defineSlotRecipe({
  className: 'dialog',
  slots: ['root', 'content', 'title', 'question', 'actions'],
  base: {
    // It inherits what it does not set from where it is opened.
    root: {
      width: '[min(30rem, calc(100vw - 2rem))]',
      maxHeight: '[calc(100dvh - 2rem)]',
      margin: 'auto',
      // Its own scroll bar would make two corners square in Firefox.
      overflow: 'hidden',
      '&[open]': { display: 'flex', flexDirection: 'column' },
      borderRadius: 'lg',
      borderWidth: 'thin',
      borderColor: 'line',
      backgroundColor: 'raised',
      color: 'text',
      fontSize: 'md',
      textAlign: 'start',
      boxShadow: 'float',
      _calm: { animation: '[rise 240ms cubic-bezier(0.2, 0.8, 0.2, 1)]' },
      _backdrop: {
        backgroundColor: '[rgb(8 18 16 / 0.6)]',
        _calm: { animation: '[appear 200ms]' },
      },
    },
    content: {
      display: 'flex',
      flexDirection: 'column',
      gap: '4',
      padding: '6',
      minHeight: '[0]',
      overflowY: 'auto',
      overscrollBehavior: 'contain',
    },
    title: { textStyle: 'heading' },
    question: { color: 'muted' },
    actions: { display: 'flex', flexWrap: 'wrap', gap: '3', justifyContent: 'flex-end' },
  },
});

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
