import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { chatLink } from '#contract/brand';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { logOut } from '../../data/log-out.ts';
import { ExternalLink } from '../../ui/external-link.tsx';
import { Icon } from '../../ui/icon.tsx';
import { accountWords } from '../../words/account.ts';

type Props = {
  /** The number, or its place while it is not known; then nobody can log out yet. */
  children: ReactNode;
  isKnown: boolean;
};

/** The account's number, and the buttons for the chat and for logging out. */
export function AccountHeader({ children, isKnown }: Props) {
  return (
    <header className={bar}>
      <div className={css({ width: { base: 'full', lg: 'auto' }, marginInlineEnd: 'auto' })}>
        <h1 className={css({ textStyle: 'small', color: 'muted', fontWeight: 'semibold' })}>{accountWords.title}</h1>
        {children}
      </div>
      <ExternalLink href={chatLink()} className={button()}>
        <Icon name="chat" />
        {accountWords.chat}
      </ExternalLink>
      <Link to="/help-now" className={button({ look: 'soft' })}>
        {accountWords.help}
      </Link>
      <button
        type="button"
        className={`${button({ look: 'outline' })} ${isKnown ? '' : css({ visibility: 'hidden' })}`}
        onClick={() => void logOut()}
      >
        <Icon name="logout" />
        {accountWords.logout}
      </button>
    </header>
  );
}

export const phoneStyle = css({ textStyle: 'figure', fontSize: '2xl' });
/** The number may come later than the buttons, which never stand in one line with it where it could move them. */
const bar = css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: '3', marginBottom: '8' });
