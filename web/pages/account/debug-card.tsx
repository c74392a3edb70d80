import { useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { card } from '#styled/recipes';
import { apiBase, buildName } from '../../data/build-settings.ts';
import { connectionState } from '../../data/event-stream.ts';
import type { User } from '../../rules/user-profile.ts';
import { expiryOf } from '../../rules/token-claims.ts';
import { session } from '../../data/session.ts';
import { debugWords } from '#words/account';
import { AccountCard } from './account-layout.tsx';

export default function DebugCard({ user }: { user: User }) {
  const connection = useSyncExternalStore(connectionState.subscribe, connectionState.get);
  const facts = [
    { name: debugWords.session, text: debugWords.loggedIn },
    { name: debugWords.accountStatus, text: user.status ?? debugWords.unknown },
    { name: debugWords.tier, text: user.metadata.subscriptionTier },
    { name: debugWords.status, text: user.metadata.subscriptionStatus ?? debugWords.unknown },
    { name: debugWords.token, text: tokenEnd() },
    { name: debugWords.stream, text: `${connection.status} (${connection.attempts})` },
    { name: debugWords.totals, text: String(connection.counts) },
    { name: debugWords.api, text: apiBase || debugWords.sameOrigin },
    { name: debugWords.build, text: buildName },
  ];
  return (
    <AccountCard
      className={card()}
      id="debug"
      title={debugWords.title}
    >
      <dl className={list}>
        {facts.map(({ name, text }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
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
