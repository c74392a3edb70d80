import { link } from '#styled/recipes';
import { errorWords } from '#words/page-errors';
import { layoutWords } from '#words/layout';
import { Alert } from './alert.tsx';

export const RefreshPage = ({ look = link() }: { look?: string }) => (
  <button
    type="button"
    className={look}
    onClick={() => location.reload()}
  >
    {layoutWords.refreshPage}
  </button>
);

/** Browsers wait for a lost file, or remember that it failed, until the page is loaded again. */
export const NotLoaded = () => (
  <Alert look="danger">
    {errorWords.network} <RefreshPage />
  </Alert>
);
