import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { withdrawWords } from '#words/withdraw';
import { useSession } from '../../data/session.ts';
import { Card } from '../../ui/card.tsx';
import type { Receipt } from './receipt-card.tsx';
import { StatementForm } from './statement-form.tsx';

/** For people who are not signed in, or whose account waits for approval: no login shows these their contract. */
export function GuestCard({ onDone }: { onDone: (receipt: Receipt) => void }) {
  const isPending = useSession(({ user }) => user?.status === 'pending');
  return (
    <Card id="statement">
      {!isPending && <Login />}
      <h2
        id="statement"
        className={css({ textStyle: 'subheading' })}
      >
        {withdrawWords.formTitleGuest}
      </h2>
      <StatementForm onDone={onDone} />
    </Card>
  );
}

function Login() {
  return (
    <div className={login}>
      <p>{withdrawWords.loginText}</p>
      <Link
        to="/login"
        search={{ next: '/withdraw' }}
        className={button({ look: 'soft', wide: true })}
      >
        {withdrawWords.login}
      </Link>
    </div>
  );
}

const login = css({
  display: 'grid',
  gap: '4',
  marginBottom: '4',
  _unscripted: { display: 'none' },
});
