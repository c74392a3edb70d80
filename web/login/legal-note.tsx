import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { link } from '#styled/recipes';
import { footerWords } from '../words/frame.ts';
import { loginWords } from '../words/login.ts';

/** What a person accepts by logging in. */
export function LegalNote() {
  return (
    <p className={css({ textStyle: 'fine', color: 'muted' })}>
      {loginWords.agreeBefore}
      <Link to="/terms" className={link()}>
        {footerWords.terms}
      </Link>
      {loginWords.agreeBetween}
      <Link to="/privacy" className={link()}>
        {footerWords.privacy}
      </Link>
      .
    </p>
  );
}
