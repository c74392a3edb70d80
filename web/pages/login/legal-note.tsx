import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { link } from '#styled/recipes';
import { Sentence } from '../../ui/sentence.tsx';
import { footerWords } from '../../words/layout.ts';
import { loginWords } from '../../words/login.ts';

/** The terms that a user accepts by signing in. */
export function LegalNote() {
  const terms = (
    <Link to="/terms" className={link()}>
      {footerWords.terms}
    </Link>
  );
  const privacy = (
    <Link to="/privacy" className={link()}>
      {footerWords.privacy}
    </Link>
  );
  return (
    <p className={css({ textStyle: 'fine', color: 'muted' })}>
      <Sentence text={loginWords.agree} parts={{ terms, privacy }} />
    </p>
  );
}
