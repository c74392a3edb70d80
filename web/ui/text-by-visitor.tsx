import { css } from '#styled/css';

type Props = { visitor: 'unknown' | 'guest' | 'member'; guest: string; member: string };

/**
 * A text for guests or for signed-in visitors. For an unknown visitor, CSS shows the second one if a token is stored.
 */
export function TextByVisitor({ visitor, guest, member }: Props) {
  if (visitor !== 'unknown') return visitor === 'member' ? member : guest;
  return (
    <>
      <span className={css({ _returning: { display: 'none' } })}>{guest}</span>
      <span className={css({ display: 'none', _returning: { display: 'inline' } })}>{member}</span>
    </>
  );
}
