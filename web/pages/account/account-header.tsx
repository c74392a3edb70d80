import { Link } from '@tanstack/react-router';
import { chatLink } from '#contract/brand';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { logOut } from '../../data/log-out.ts';
import { formatPhone } from '../../rules/format-phone.ts';
import { ExternalLink } from '../../ui/external-link.tsx';
import { Icon } from '../../ui/icon.tsx';
import { accountWords } from '../../words/account.ts';

/** The account's number, and the buttons for the chat and for logging out. */
export function AccountHeader({ phone }: { phone: string | null }) {
  return (
    <header className={bar}>
      <div className={css({ marginInlineEnd: 'auto' })}>
        <h1 className={css({ textStyle: 'small', color: 'muted', fontWeight: 'semibold' })}>{accountWords.title}</h1>
        <p className={css({ textStyle: 'figure', fontSize: '2xl' })}>{formatPhone(phone)}</p>
      </div>
      <ExternalLink href={chatLink()} className={button()}>
        <Icon name="chat" />
        {accountWords.chat}
      </ExternalLink>
      <Link to="/help-now" className={button({ look: 'soft' })}>
        {accountWords.help}
      </Link>
      <button type="button" className={button({ look: 'outline' })} onClick={() => void logOut()}>
        <Icon name="logout" />
        {accountWords.logout}
      </button>
    </header>
  );
}

const bar = css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: '3', marginBottom: '8' });
