import { button } from '#styled/recipes';
import { useHelpCountries } from '../../data/help-countries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { HelpPanel } from '../../ui/help-panel.tsx';
import { helpWords } from '#words/help';

/** Only the country needs a request. */
export default function HelpDialog({ close }: { close: () => void }) {
  const countries = useHelpCountries();
  return (
    <Dialog
      title={helpWords.title}
      close={close}
    >
      <HelpPanel
        countries={countries}
        linksToAll
      />
      <button
        type="button"
        className={button({ look: 'outline' })}
        onClick={close}
      >
        {helpWords.close}
      </button>
    </Dialog>
  );
}
