import { Link, useHydrated } from '@tanstack/react-router';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { brand } from '#contract/brand';
import { TextByMembership } from '../ui/text.tsx';
import { Logo, Icon } from '../ui/icons.tsx';
import { useMembership } from '../data/session.ts';
import { layoutWords } from '#words/layout';
import { useSyncExternalStore } from 'react';
import { colourScheme } from './colour-scheme.ts';

const tab = css({
  paddingInline: { base: '2', sm: '5' },
  '&[aria-current=page]': {
    backgroundColor: 'primarySoft',
    color: 'primary',
    _forced: { outline: '2px solid' },
  },
});

export function Header() {
  const membership = useMembership();
  const link = `${button({ look: 'quiet' })} ${tab}`;
  return (
    <header className={bar}>
      <SkipLink />
      <div className={inner}>
        <Link
          to="/"
          className={logoLink}
          aria-label={layoutWords.logo}
        >
          <Logo />
          <span>{brand.name}</span>
        </Link>
        <nav
          aria-label={layoutWords.mainNavigation}
          className={css({ display: 'flex', flexWrap: 'wrap', gap: '1' })}
        >
          <Link
            to="/"
            className={link}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            {layoutWords.home}
          </Link>
          <Link
            to={membership === 'member' ? '/account' : '/login'}
            className={link}
          >
            <TextByMembership
              membership={membership}
              guest={layoutWords.login}
              member={layoutWords.myAccount}
            />
          </Link>
        </nav>
        <ThemeToggle />
      </div>
    </header>
  );
}

function SkipLink() {
  return (
    <a
      href="#main"
      className={skip}
    >
      {layoutWords.skip}
    </a>
  );
}

const skip = css({
  position: 'absolute',
  insetInlineStart: '4',
  top: '[-100vh]',
  zIndex: 'toast',
  paddingInline: '5',
  paddingBlock: '3',
  borderRadius: 'full',
  backgroundColor: 'primary',
  color: 'onPrimary',
  fontWeight: 'semibold',
  _focus: { top: '4' },
});

const bar = css({
  position: 'sticky',
  top: '[var(--header-top)]',
  zIndex: 'header',
  backgroundColor: 'paper',
  borderBottomWidth: 'thin',
  borderColor: 'line',
  _print: { display: 'none' },
});

const inner = css({
  display: 'flex',
  flexWrap: 'wrap',
  alignItems: 'center',
  gap: { base: '1', md: '3' },
  maxWidth: 'page',
  minHeight: '[4.25rem]',
  marginInline: 'auto',
  paddingInline: 'gutter',
});

const logoLink = css({
  display: 'flex',
  alignItems: 'center',
  gap: '2',
  minHeight: 'touch',
  marginInlineEnd: 'auto',
  borderRadius: 'sm',
  textStyle: 'subheading',
  '& span': { display: { base: 'none', sm: 'inline' } },
});

function ThemeToggle() {
  const isHydrated = useHydrated();
  const isDark = useSyncExternalStore(colourScheme.subscribe, colourScheme.isDark, () => false);
  const label = isDark ? layoutWords.toLight : layoutWords.toDark;
  return (
    <button
      type="button"
      className={`${button({ look: 'quiet', size: 'icon' })} ${toggle}`}
      onClick={colourScheme.toggle}
      aria-label={label}
      title={label}
    >
      {isHydrated ? <Icon name={isDark ? 'sun' : 'moon'} /> : <BothIcons />}
    </button>
  );
}

function BothIcons() {
  return (
    <>
      <span
        className={css({ gridArea: '[1 / 1]', color: '[light-dark(transparent, currentColor)]' })}
      >
        <Icon name="sun" />
      </span>
      <span
        className={css({ gridArea: '[1 / 1]', color: '[light-dark(currentColor, transparent)]' })}
      >
        <Icon name="moon" />
      </span>
    </>
  );
}

const toggle = css({
  display: 'grid',
  placeItems: 'center',
  fontSize: 'md',
  _unscripted: { display: 'none' },
});
