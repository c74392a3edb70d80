import { css } from '#styled/css';
import { page } from '#styled/recipes';
import { Waiting } from '../ui/waiting.tsx';
import { useSession } from '../use-session.ts';
import { words } from '../words.ts';
import { AccountHeader } from './account-header.tsx';
import { CurrentPlanCard } from './current-plan-card.tsx';
import { UsageCard } from './usage-card.tsx';
import { useFreshProfile } from './use-fresh-profile.ts';

/** Everything that a person manages. */
export function AccountPage() {
  const user = useSession((session) => session.user);
  useFreshProfile();
  if (!user) return <Waiting label={words.account.loading} />;
  return (
    <div className={page()}>
      <AccountHeader phone={user.phoneNumber} />
      <div className={columns}>
        <div className={column}>
          <CurrentPlanCard user={user} />
          <UsageCard user={user} />
        </div>
        <div className={column} />
      </div>
    </div>
  );
}

const columns = css({
  display: 'grid',
  gridTemplateColumns: { lg: '[minmax(0, 5fr) minmax(0, 3fr)]' },
  gap: '6',
  alignItems: 'start',
});
const column = css({ display: 'grid', gap: '6', minWidth: '[0]' });
