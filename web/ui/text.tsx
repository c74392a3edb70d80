import { Fragment, type ReactNode } from 'react';
import { css } from '#styled/css';

/** Shows the parts that a text with tags returns. */
export function Sentence({ parts }: { parts: ReactNode[] }) {
  // The parts keep their order.
  return parts.map((part, index) => <Fragment key={index}>{part}</Fragment>);
}

/** Breaks no line within a phone number. */
export function Unbroken({ text }: { text: string }) {
  const parts = text.split(/(\+\d[\d ()-]*\d)/).map((part, index) => {
    const isNumber = index % 2 === 1;
    return (
      <span
        key={index}
        className={isNumber ? css({ whiteSpace: 'nowrap' }) : undefined}
      >
        {part}
      </span>
    );
  });
  return <>{parts}</>;
}

type MembershipProps = {
  membership: 'unknown' | 'guest' | 'member';
  guest: string;
  member: string;
};

/** Renders both texts while the membership is unknown. CSS shows `member` if a token is stored. */
export function TextByMembership({ membership, guest, member }: MembershipProps) {
  // A translator replaces the text, which React would change unseen.
  if (membership !== 'unknown') return <span>{membership === 'member' ? member : guest}</span>;
  return (
    <>
      <span className={css({ _returning: { display: 'none' } })}>{guest}</span>
      <span
        className={css({
          display: 'none',
          _returning: { display: 'inline' },
        })}
      >
        {member}
      </span>
    </>
  );
}
