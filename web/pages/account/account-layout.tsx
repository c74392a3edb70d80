import { Link } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { chatLink } from '#contract/brand';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { signOut } from '../../data/sign-out.ts';
import { Card } from '../../ui/card.tsx';
import { ExternalLink } from '../../ui/external-link.tsx';
import { Icon } from '../../ui/icons.tsx';
import { accountWords } from '#words/account';
import { showToast } from '../../data/toasts.ts';
import { fetchProfile } from '../../data/profile-query.ts';
import { useAction } from '../../data/use-action.ts';

type HeaderProps = {
  /** The number, or its place. */
  children: ReactNode;
  isKnown: boolean;
};

export function AccountHeader({ children, isKnown }: HeaderProps) {
  return (
    <header className={bar}>
      <div
        className={css({
          width: { base: 'full', lg: 'auto' },
          marginInlineEnd: 'auto',
        })}
      >
        <h1
          className={css({
            textStyle: 'small',
            color: 'muted',
            fontWeight: 'semibold',
          })}
        >
          {accountWords.title}
        </h1>
        {children}
      </div>
      <ExternalLink
        href={chatLink()}
        className={button()}
        label={accountWords.chat}
      >
        <Icon name="chat" />
        {accountWords.chat}
      </ExternalLink>
      <Link
        to="/help-now"
        className={button({ look: 'soft' })}
      >
        {accountWords.help}
      </Link>
      <button
        type="button"
        className={`${button({ look: 'outline' })} ${signOutButton} ${isKnown ? '' : css({ visibility: 'hidden' })}`}
        onClick={() => void signOut()}
      >
        <Icon name="logout" />
        {accountWords.logout}
      </button>
    </header>
  );
}

const signOutButton = css({ _rtl: { '& svg': { transform: 'scaleX(-1)' } } });
/** The number keeps its own direction. */
export const phoneStyle = css({
  textStyle: 'figure',
  fontSize: '2xl',
  unicodeBidi: 'plaintext',
});
/** A late number must not move the buttons. */
const bar = css({
  display: 'flex',
  flexWrap: 'wrap',
  alignItems: 'center',
  gap: '3',
  marginBottom: '8',
});

export const columns = css({
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', lg: '[minmax(0, 5fr) minmax(0, 3fr)]' },
  gap: '6',
  alignItems: 'start',
});
export const column = css({
  display: 'grid',
  gridTemplateColumns: '[minmax(0, 1fr)]',
  gap: '6',
});

type HeadProps = { id: string; title: string; beside?: ReactNode; action?: ReactNode };

type CardProps = HeadProps & Omit<ComponentProps<typeof Card>, 'title'>;

export function AccountCard({ id, title, beside, action, children, ...section }: CardProps) {
  return (
    <Card
      id={id}
      {...section}
    >
      <CardHead {...{ id, title, beside, action }} />
      {children}
    </Card>
  );
}

function CardHead({ id, title, beside, action }: HeadProps) {
  return (
    <header
      className={css({
        display: 'flex',
        flexWrap: 'wrap',
        alignItems: 'center',
        gap: '3',
        minHeight: 'touch',
      })}
    >
      <h2
        id={id}
        className={css({ textStyle: 'subheading' })}
      >
        {title}
      </h2>
      {beside}
      {action && <div className={css({ marginInlineStart: 'auto' })}>{action}</div>}
    </header>
  );
}

/** Give the button `aria-describedby="{id}-hint"`. */
export function AccountAction({
  id,
  hint,
  children,
}: {
  id: string;
  hint: string;
  children: ReactNode;
}) {
  return (
    <div className={css({ display: 'grid', gap: '2', _print: { display: 'none' } })}>
      {children}
      <p
        id={`${id}-hint`}
        className={css({
          textStyle: 'fine',
          color: 'muted',
          textAlign: 'center',
          textWrap: 'balance',
        })}
      >
        {hint}
      </p>
    </div>
  );
}

export function RefreshButton({ label }: { label: string }) {
  const [isBusy, run] = useAction();
  const refresh = async () => {
    const result = await fetchProfile();
    if (!result.success) throw result.error;
    showToast({
      type: 'success',
      title: accountWords.success,
      description: accountWords.refreshed,
    });
  };
  return (
    <button
      type="button"
      className={button({ look: 'quiet', size: 'icon' })}
      aria-label={label}
      title={label}
      aria-busy={isBusy}
      onClick={() => run(refresh, { title: accountWords.error, text: accountWords.refreshFailed })}
    >
      <span
        className={turning}
        data-busy={isBusy}
      >
        <Icon name="refresh" />
      </span>
    </button>
  );
}

const turning = css({
  '&[data-busy=true]': { _calm: { animation: '[spin 900ms linear infinite]' } },
});
