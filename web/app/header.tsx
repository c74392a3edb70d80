import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { brand } from '#contract/brand';
import { TextByVisitor } from '../ui/text-by-visitor.tsx';
import { Logo } from '../ui/logo.tsx';
import { useVisitor } from '../data/use-session.ts';
import { layoutWords } from '../words/layout.ts';
import { ThemeToggle } from './theme-toggle.tsx';

const tab = css({
  paddingInline: { base: '2', sm: '5' },
  '&[aria-current=page]': { backgroundColor: 'primarySoft', color: 'primary', _forced: { outline: '2px solid' } },
});

/** The header of every page. */
export function Header() {
  const visitor = useVisitor();
  const link = `${button({ look: 'quiet' })} ${tab}`;
  return (
    <header className={bar}>
      <div className={inner}>
        <Link to="/" className={mark} aria-label={layoutWords.logo}>
          <Logo />
          <span>{brand.name}</span>
        </Link>
        <nav aria-label={layoutWords.mainNavigation} className={css({ display: 'flex', gap: '1' })}>
          <Link to="/" className={link} activeOptions={{ exact: true, includeSearch: false }}>
            {layoutWords.home}
          </Link>
          <Link to={visitor === 'member' ? '/account' : '/login'} className={link}>
            <TextByVisitor visitor={visitor} guest={layoutWords.login} member={layoutWords.myAccount} />
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
