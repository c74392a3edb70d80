import type { ShownMessage } from '../../rules/shown-messages.ts';
import type { TranscriptItem } from '../../rules/transcript.ts';
import { Message } from './message.tsx';
import { AiNotice, Day } from './separators.tsx';

type Props = {
  item: TranscriptItem<ShownMessage>;
  sendAgain: (id: string, text: string) => void;
  openHelp: () => void;
};

/** One line of the conversation. It and its parts have no hooks: `to-dom.ts` renders them before React has started. */
export function TranscriptLine({ item, sendAgain, openHelp }: Props) {
  if (item.kind === 'day') return <Day at={item.at} />;
  if (item.kind === 'notice') return <AiNotice />;
  return <Message message={item.message} sendAgain={sendAgain} openHelp={openHelp} />;
}
