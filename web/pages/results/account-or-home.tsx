import { Link } from '@tanstack/react-router';
import { button } from '#styled/recipes';
import { useSession } from '../../data/use-session.ts';

/** A link to the account for a signed-in user, else to the home page. */
export function AccountOrHome({ account, home }: { account: string; home: string }) {
  const isLoggedIn = useSession(({ user }) => user !== null);
  return (
    <Link to={isLoggedIn ? '/account' : '/'} className={button()}>
      {isLoggedIn ? account : home}
    </Link>
  );
}
