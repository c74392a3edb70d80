import { css } from '#styled/css';
import { useVisitor } from '../use-visitor.ts';

/** Words for a guest or for a member. While it is unknown who is here, a stored token is taken for a member. */
export function ByVisitor({ guest, member }: { guest: string; member: string }) {
  const visitor = useVisitor();
  if (visitor !== 'unknown') return visitor === 'member' ? member : guest;
  return (
    <>
      <span className={css({ _returning: { display: 'none' } })}>{guest}</span>
      <span className={css({ display: 'none', _returning: { display: 'inline' } })}>{member}</span>
    </>
  );
}
