import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { button } from '#styled/recipes';
import { useFreshProfile } from '../../data/profile-query.ts';
import { logOut } from '../../data/sign-out.ts';
import { formatPhone } from '../../rules/formats.ts';
import { ResultPage } from '../../ui/result-page.tsx';
import { useSession } from '../../data/session.ts';
import { pendingWords } from '#words/results';

/** The page of a user with a pending account; after the approval the account opens. */
export function PendingApproval() {
  const phone = useSession(({ user }) => user?.phoneNumber);
  const isApproved = useSession(({ user }) => user?.status === 'approved');
  const navigate = useNavigate();
  useFreshProfile();
  useEffect(() => {
    if (isApproved) void navigate({ to: '/account', replace: true });
  }, [isApproved, navigate]);
  return (
    <ResultPage mood="pause" title={pendingWords.title} text={pendingWords.text(formatPhone(phone))}>
      <p>{pendingWords.notice}</p>
      <button type="button" className={button({ look: 'outline' })} onClick={() => void logOut('/')}>
        {pendingWords.logout}
      </button>
    </ResultPage>
  );
}
