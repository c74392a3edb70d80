import { useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { card } from '#styled/recipes';
import { apiBase, build } from '../../data/build-settings.ts';
import { connectionState } from '../../data/event-stream.ts';
import type { User } from '../../rules/user-profile.ts';
import { expiryOf } from '../../rules/token-claims.ts';
import { session } from '../../data/session.ts';
import { debugWords } from '#words/account';
import { AccountCard } from './account-layout.tsx';

export default function DebugCard({ user }: { user: User }) {
  const connection = useSyncExternalStore(connectionState.subscribe, connectionState.get);
  const facts = [
    [debugWords.session, debugWords.loggedIn],
    [debugWords.accountStatus, user.status ?? debugWords.unknown],
    [debugWords.tier, user.metadata.subscriptionTier],
    [debugWords.status, user.metadata.subscriptionStatus ?? debugWords.unknown],
    [debugWords.token, tokenEnd()],
    [debugWords.stream, `${connection.status} (${connection.attempts})`],
    [debugWords.totals, String(connection.counts)],
    [debugWords.api, apiBase || debugWords.sameOrigin],
    [debugWords.build, build],
  ];
  return (
    <AccountCard
      className={card()}
      id="debug"
      title={debugWords.title}
    >
      <dl className={list}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </AccountCard>
  );
}

function tokenEnd(): string {
  const expiry = expiryOf(session.get().token ?? '');
  return expiry === null ? debugWords.never : new Date(expiry * 1000).toISOString();
}

const list = css({
  display: 'grid',
  gap: '2',
  fontFamily: 'mono',
  textStyle: 'fine',
  '& div': { display: 'flex', flexWrap: 'wrap', justifyContent: 'space-between', columnGap: '4' },
  '& dt': { color: 'muted' },
  '& dd': { overflowWrap: 'anywhere' },
});
