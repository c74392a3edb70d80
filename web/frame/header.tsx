import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { brand } from '#contract/brand';
import { ByVisitor } from '../ui/by-visitor.tsx';
import { Logo } from '../ui/logo.tsx';
import { useSession } from '../use-session.ts';
import { frameWords } from '../words/frame.ts';
import { ThemeToggle } from './theme-toggle.tsx';

const tab = css({
  '&[aria-current=page]': { backgroundColor: 'primarySoft', color: 'primary', _forced: { outline: '2px solid' } },
});

/** The bar on top of every page. */
export function Header() {
  const isLoggedIn = useSession(({ user }) => user !== null);
  const link = `${button({ look: 'quiet' })} ${tab}`;
  return (
    <header className={bar}>
      <div className={inner}>
        <Link to="/" className={mark} aria-label={frameWords.logo}>
          <Logo />
          <span>{brand.name}</span>
        </Link>
        <nav aria-label={frameWords.mainNavigation} className={css({ display: 'flex', gap: '1' })}>
          <Link to="/" className={link} activeOptions={{ exact: true, includeSearch: false }}>
            {frameWords.home}
          </Link>
          <Link to={isLoggedIn ? '/account' : '/login'} className={link}>
            <ByVisitor guest={frameWords.login} member={frameWords.myAccount} />
          </Link>
        </nav>
        <ThemeToggle />
      </div>
    </header>
  );
}

const bar = css({
  position: 'sticky',
  top: '0',
  zIndex: 'header',
  backgroundColor: '[color-mix(in srgb, {colors.paper} 92%, transparent)]',
  backdropFilter: '[blur(12px)]',
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

const mark = css({
  display: 'flex',
  alignItems: 'center',
  gap: '2',
  minHeight: 'touch',
  marginInlineEnd: 'auto',
  borderRadius: 'sm',
  textStyle: 'subheading',
  '& span': { display: { base: 'none', sm: 'inline' } },
});
