import { useHydrated } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { css } from '#styled/css';
import { page } from '#styled/recipes';
import { withdrawWords } from '#words/withdraw';
import { keptInTab } from '../../data/kept-in-tab.ts';
import { lazyWithFallback } from '../../data/loaded-parts.tsx';
import { session, useSession } from '../../data/session.ts';
import { Spinner } from '../../ui/spinner.tsx';
import { ByPost } from './by-post.tsx';
import { GuestCard } from './guest-card.tsx';
import { ReceiptCard, type Receipt } from './receipt-card.tsx';

/** Guests need none of it; where its file does not load, a statement can still be made. */
const ContractCard = lazyWithFallback<ContractProps>(
  () => import('./contract-card.tsx'),
  GuestCard,
);

type ContractProps = { token: string; onDone: (receipt: Receipt) => void };

/**
 * The withdrawal function of Directive 2011/83/EU, article 11a: statement and confirmation on one page. The served HTML
 * is a guest's, and names the address for statements without scripts.
 */
export function WithdrawPage() {
  const user = useSession((current) => current.user);
  const token = useSession((current) => current.token);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const isHydrated = useHydrated();
  const hasContract = user?.status === 'approved' && token !== null && !session.needsCode();
  // The server keeps that of a contract. The form stays, for another statement.
  const kept = isHydrated && !hasContract ? keptInTab.read('receipt', token) : null;
  const shown = receipt ?? (kept as Receipt | null);

  const keep = (sent: Receipt) => {
    keptInTab.keep('receipt', token, sent);
    setReceipt(sent);
  };

  return (
    <div className={`${page({ width: 'form' })} ${css({ display: 'grid', gap: '6' })}`}>
      <header className={css({ display: 'grid', gap: '3' })}>
        <h1 className={css({ textStyle: 'heading' })}>{withdrawWords.title}</h1>
        <p className={css({ color: 'muted' })}>{withdrawWords.lead}</p>
      </header>
      {shown && (
        <ReceiptCard
          key={shown.receipt}
          {...shown}
          hasAccount={hasContract}
        />
      )}
      {!receipt && hasContract && (
        <Suspense fallback={<Spinner label={withdrawWords.loading} />}>
          <ContractCard
            key={token}
            token={token}
            onDone={setReceipt}
          />
        </Suspense>
      )}
      {!receipt && !hasContract && (
        <>
          <GuestCard onDone={keep} />
          <ByPost />
        </>
      )}
    </div>
  );
}
