import { basePath } from '#words/language';
import type { ChatPage } from '#contract/chat-schemas';
import { newestMessagesPath, type ShownChat } from '../../data/early-start.ts';
import { TranscriptLine, VoicePlace } from '../../pages/chat/transcript-line.tsx';
import {
  shownMessage,
  type ShownMessage,
  transcriptParts,
  type TranscriptItem,
} from '../../rules/transcript.ts';
import { consentVersion } from '#contract/chat-limits';
import { painted, shellRoot, parsed, startApp, renderProblem } from './start-shell.ts';
import { toDom } from './jsx-to-dom.ts';
import { isNearEnd, sendsOnEnter } from '../../rules/browser-input.ts';

/** Writes the newest messages into the served frame, and React takes over; the app takes 1.5 s more on a slow line. */
async function fillChat(): Promise<void> {
  const early = globalThis.earlyStart;
  const response = await early?.responses[newestMessagesPath];
  if (!early?.token || typeof response === 'string' || !response?.ok) return;
  const page: ChatPage = await response.clone().json();
  await parsed();
  if (page.consent?.version !== consentVersion || page.messages.length === 0) return;
  // oxlint-disable-next-line no-restricted-properties -- only if a proxy has removed the server's time
  const openedAt = Date.parse(response.headers.get('date') ?? '') || Date.now();
  const shown = { token: early.token, page, openedAt, isAtEnd: true };
  if (!showConversation(shown)) return;
  early.shownChat = shown;
  noteScrolling(shown);
  // React Query gets this page, so that it is not requested again.
  delete early.responses[newestMessagesPath];
  await painted();
}

/** Returns whether the shell was still there. */
function showConversation({ page, openedAt }: ShownChat): boolean {
  const main = shellRoot()?.querySelector('main');
  const frame = document.querySelector<HTMLTemplateElement>('template#filled')?.content;
  if (!main || !frame) return false;
  const slot = (name: string) => frame.querySelector(`[data-slot=${name}]`);
  const { history, live } = transcriptParts(page.messages.map(shownMessage), Infinity, openedAt);
  slot('history')?.replaceChildren(toDom(history.map(line)));
  slot('live')?.replaceChildren(toDom(live.map(line)));
  if (!page.hasMore) slot('older')?.remove();
  const list = slot('messages');
  main.replaceChildren(frame);
  list?.scrollTo(0, list.scrollHeight);
  renderProblem();
  return true;
}

/** Until React takes the frame over. */
function noteScrolling(shown: ShownChat): void {
  const list = shellRoot()?.querySelector('[data-slot=messages]');
  list?.addEventListener('scroll', () => (shown.isAtEnd = isNearEnd(list)));
}

const nothing = () => {};
const line = (item: TranscriptItem<ShownMessage>) => (
  <TranscriptLine item={item} sendAgain={nothing} openHelp={nothing} player={VoicePlace} />
);

handleEarlyInput();
void startApp(fillChat());

/** Before React has taken the frame over, help opens at once; other buttons are noted for `mount.tsx`. */
function handleEarlyInput(): void {
  addEventListener('click', ({ target }) => {
    const button = shellRoot() && target instanceof Element ? target.closest('button') : null;
    if (button?.dataset['opens'] === 'help') location.assign(`${basePath}/help-now`);
    else if (button?.type === 'button') button.dataset['sent'] = 'early';
  });
  addEventListener('input', ({ target }) => {
    // The copy of the text that determines the height of the field.
    if (shellRoot() && isField(target))
      target.parentElement?.setAttribute('data-text', `${target.value}\n`);
  });
  addEventListener('keydown', (event) => {
    if (!shellRoot() || !isField(event.target) || !sendsOnEnter(event)) return;
    event.preventDefault();
    event.target.form?.requestSubmit();
  });
}

const isField = (target: EventTarget | null) => target instanceof HTMLTextAreaElement;
