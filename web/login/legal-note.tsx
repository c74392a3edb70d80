import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { link } from '#styled/recipes';
import { words } from '../words.ts';

/** What a person accepts by logging in. */
export function LegalNote() {
  return (
    <p className={css({ textStyle: 'fine', color: 'muted' })}>
      {words.login.agreeBefore}
      <Link to="/terms" className={link()}>
        {words.footer.terms}
      </Link>
      {words.login.agreeBetween}
      <Link to="/privacy" className={link()}>
        {words.footer.privacy}
      </Link>
      .
    </p>
  );
}
