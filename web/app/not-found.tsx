import { Link } from '@tanstack/react-router';
import { button } from '#styled/recipes';
import { notFoundWords } from '../words/layout.ts';
import { ResultPage } from '../ui/result-page.tsx';

/** The page for an unknown path. */
export function NotFound() {
  return (
    <ResultPage mood="lost" title={notFoundWords.title} text={notFoundWords.text}>
      <Link to="/" className={button()}>
        {notFoundWords.home}
      </Link>
    </ResultPage>
  );
}
