import { Link } from '@tanstack/react-router';
import { button } from '#styled/recipes';
import { notFoundWords } from '../words/frame.ts';
import { Verdict } from '../ui/verdict.tsx';

/** The page for a path that nobody knows. */
export function NotFound() {
  return (
    <Verdict mood="lost" title={notFoundWords.title} text={notFoundWords.text}>
      <Link to="/" className={button()}>
        {notFoundWords.home}
      </Link>
    </Verdict>
  );
}
