import { basePath } from '#words/language';
import { chatWords } from '#words/chat';
import type { ChatPage } from '#contract/chat-schemas';
import { consentVersion } from '#contract/chat-limits';
import {
  marksOf,
  messageList,
  newestMessagesPath,
  shellRoot,
  template,
  type ShownChat,
} from '../protocol.ts';
import { holdApp, untilParsed } from '../hold-app.ts';
import { TranscriptLine, VoicePlace } from '../../pages/chat/transcript-line.tsx';
import { hasKeyboard } from '../../data/keyboard.ts';
import { isNearEnd, sendsOnEnter } from '../../rules/chat-input.ts';
import {
  shownMessage,
  type ShownMessage,
  transcriptParts,
  type TranscriptItem,
} from '../../rules/transcript.ts';
import { toDom } from './jsx-to-dom.ts';

async function fillChat(): Promise<void> {
  const early = globalThis.earlyStart;
  const response = await early?.responses[newestMessagesPath];
  if (!early?.token || typeof response === 'string' || !response?.ok) return;

  const page: ChatPage = await response.clone().json();
  await untilParsed();
  if (page.consent?.version !== consentVersion || page.messages.length === 0) return;

  // oxlint-disable-next-line no-restricted-properties -- only if a proxy has removed the server's time
  const openedAt = Date.parse(response.headers.get('date') ?? '') || Date.now();
  const shown = { token: early.token, page, openedAt };
  if (!showConversation(shown)) return;

  early.shownChat = shown;
  // React Query gets this page.
  delete early.responses[newestMessagesPath];
  await untilPainted();
}

/** Shows the messages in the shell; false once the shell is gone. */
function showConversation({ page, openedAt }: ShownChat): boolean {
  const main = shellRoot()?.querySelector('main');
  const frame = template('frame')?.content;
  const list = frame?.querySelector(messageList);
  const [history, live] = list?.querySelectorAll('ol') ?? [];
  if (!main || !frame || !list || !history || !live) return false;

  const parts = transcriptParts(page.messages.map(shownMessage), Infinity, openedAt);
  history.replaceChildren(toDom(parts.history.map(line)));
  live.replaceChildren(toDom(parts.live.map(line)));
  // The elements before the history are about older messages.
  while (!page.hasMore && history.previousSibling) history.previousSibling.remove();

  main.replaceChildren(frame);
  list.scrollTo(0, list.scrollHeight);
  return true;
}

const nothing = () => {};
const line = (item: TranscriptItem<ShownMessage>) => (
  <TranscriptLine
    item={item}
    sendAgain={nothing}
    openHelp={nothing}
    player={VoicePlace}
  />
);

/** Waits for a paint: an intersection is reported before it, and a message after it. Hidden pages have neither. */
function untilPainted(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => resolve(), { once: true });
    port1.start();
    const observer = new IntersectionObserver(() => {
      observer.disconnect();
      port2.postMessage(null);
    });
    observer.observe(document.documentElement);
  });
}

/** Opens help at once; `typed-input.ts` repeats other presses. */
function handleEarlyInput(): void {
  addEventListener('click', ({ target }) => {
    const button = shellRoot() && target instanceof Element ? target.closest('button') : null;
    if (button?.textContent === chatWords.help) location.assign(`${basePath}/help-now`);
    else if (button?.type === 'button') marksOf(button).sent = 'early';
  });

  addEventListener('input', ({ target }) => {
    if (shellRoot() && isField(target)) grow(target);
  });

  addEventListener('keydown', (event) => {
    if (!shellRoot() || !isField(event.target)) return;
    if (!sendsOnEnter(event, hasKeyboard())) return;

    event.preventDefault();
    event.target.form?.requestSubmit();
  });
}

const isField = (target: EventTarget | null) => target instanceof HTMLTextAreaElement;

/** Lets a copy of the text set the field's height, and keeps the list at its end. */
function grow({ parentElement, value }: HTMLTextAreaElement): void {
  const list = document.querySelector(messageList);
  const isAtEnd = list && isNearEnd(list);

  if (parentElement) marksOf(parentElement).text = `${value}\n`;
  if (isAtEnd) list.scrollTo(0, list.scrollHeight);
}

handleEarlyInput();
holdApp(fillChat());
