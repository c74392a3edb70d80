import { basePath } from '#words/language';
import { offlinePageWords } from '#words/notices';
import { button } from '#styled/recipes';
import { ResultPage } from '../ui/result-page.tsx';

/** The page for any address without a connection; the app does not start in it. */
export const OfflinePage = () => (
  <ResultPage
    mood="lost"
    title={offlinePageWords.title}
    text={offlinePageWords.text}
  >
    <a
      href={`${basePath}/help-now`}
      className={button()}
    >
      {offlinePageWords.help}
    </a>
    {/* oxlint-disable-next-line jsx-a11y/anchor-is-valid -- the address itself, whatever it is */}
    <a
      href=""
      className={button({ look: 'soft' })}
    >
      {offlinePageWords.again}
    </a>
  </ResultPage>
);
