import { Dialog } from '@ark-ui/react/dialog';
import { Portal } from '@ark-ui/react/portal';
import { button, dialog } from '#styled/recipes';
import { useHelpCountries } from '../../data/help-countries.ts';
import { HelpPanel } from '../../ui/help-panel.tsx';
import { TextDirection } from '../../ui/text-direction.tsx';
import { helpWords } from '#words/help';

/** The crisis lines in a dialog over the conversation. Only the country needs a request. */
export default function HelpDialog({ close }: { close: () => void }) {
  const countries = useHelpCountries();
  const styles = dialog();
  return (
    <TextDirection>
      <Dialog.Root open onOpenChange={({ open }) => !open && close()} lazyMount unmountOnExit>
        <Portal>
          <Dialog.Backdrop className={styles.backdrop} />
          <Dialog.Positioner className={styles.positioner}>
            <Dialog.Content className={styles.content}>
              <Dialog.Title className={styles.title}>{helpWords.title}</Dialog.Title>
              <HelpPanel countries={countries} linksToAll />
              <button type="button" className={button({ look: 'outline' })} onClick={close}>
                {helpWords.close}
              </button>
            </Dialog.Content>
          </Dialog.Positioner>
        </Portal>
      </Dialog.Root>
    </TextDirection>
  );
}
