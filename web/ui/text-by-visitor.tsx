import { css } from '#styled/css';

type Props = { visitor: 'unknown' | 'guest' | 'member'; guest: string; member: string };

/** A text for guests or for members. For an unknown visitor, CSS chooses the member's text if a token is stored. */
export function TextByVisitor({ visitor, guest, member }: Props) {
  if (visitor !== 'unknown') return visitor === 'member' ? member : guest;
  return (
    <>
      <span className={css({ _returning: { display: 'none' } })}>{guest}</span>
      <span className={css({ display: 'none', _returning: { display: 'inline' } })}>{member}</span>
    </>
  );
}
