import { Link } from '@tanstack/react-router';
import { button } from '#styled/recipes';
import { useSession } from '../../data/use-session.ts';

/** The way on: to the account of a person who is logged in, else home. */
export function AccountOrHome({ account, home }: { account: string; home: string }) {
  const isLoggedIn = useSession(({ user }) => user !== null);
  return (
    <Link to={isLoggedIn ? '/account' : '/'} className={button()}>
      {isLoggedIn ? account : home}
    </Link>
  );
}
