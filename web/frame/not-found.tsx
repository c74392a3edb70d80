import { Link } from '@tanstack/react-router';
import { button } from '#styled/recipes';
import { words } from '../words.ts';
import { Verdict } from '../ui/verdict.tsx';

/** The page for a path that nobody knows. */
export function NotFound() {
  return (
    <Verdict mood="lost" title={words.notFound.title} text={words.notFound.text}>
      <Link to="/" className={button()}>
        {words.notFound.home}
      </Link>
    </Verdict>
  );
}
