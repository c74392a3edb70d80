import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { css } from '#styled/css';
import { button, card, link } from '#styled/recipes';
import { conversationStore } from '../../data/conversation-store.ts';
import { useAction } from '../../data/use-action.ts';
import { Alert } from '../../ui/alert.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { consentVersion } from '#contract/chat-limits';
import { consentWords } from '#words/chat-consent';

/** No box is ticked in advance. */
export default function ConsentStep({ token }: { token: string }) {
  const [isAdult, setAdult] = useState(false);
  const [agrees, setAgrees] = useState(false);
  const [isIncomplete, setIncomplete] = useState(false);
  const [isBusy, run] = useAction();

  const accept = () => conversationStore.acceptConsent(token, consentVersion).then(toTop);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isComplete = isAdult && agrees;
    setIncomplete(!isComplete);
    if (isComplete) run(accept, { fallback: consentWords.failed });
  };

  return (
    <div className={scroller}>
      <form
        className={card({ look: 'raised' })}
        onSubmit={submit}
        noValidate
      >
        <h2 className={css({ textStyle: 'heading' })}>{consentWords.title}</h2>
        <p>{consentWords.lead}</p>
        <ul className={list}>
          {consentWords.points.map((point) => (
            <li key={point}>{point}</li>
          ))}
        </ul>
        <Checkbox
          isRequired
          isChecked={isAdult}
          onChange={setAdult}
          label={consentWords.adult}
        />
        <Checkbox
          isRequired
          isChecked={agrees}
          onChange={setAgrees}
          label={consentWords.health}
        />
        {isIncomplete && !(isAdult && agrees) && (
          <Alert look="danger">{consentWords.incomplete}</Alert>
        )}
        <button
          type="submit"
          className={button({ size: 'lg' })}
          aria-disabled={isBusy}
        >
          {consentWords.accept}
        </button>
        <Details />
      </form>
    </div>
  );
}

/** The conversation fills the screen, and this page was longer. */
const toTop = () => scrollTo({ top: 0, behavior: 'instant' });

function Details() {
  return (
    <p className={links}>
      <Link
        to="/privacy"
        className={link()}
      >
        {consentWords.privacy}
      </Link>
      <Link
        to="/safety"
        className={link()}
      >
        {consentWords.safety}
      </Link>
    </p>
  );
}

const scroller = css({
  flex: '1',
  minHeight: '[0]',
  overflowY: 'auto',
  paddingInline: 'gutter',
  paddingBlock: '4',
});
const list = css({
  display: 'grid',
  gap: '2',
  listStyle: 'disc',
  paddingInlineStart: '5',
});
const links = css({
  display: 'flex',
  flexWrap: 'wrap',
  columnGap: '5',
  rowGap: '2',
});
