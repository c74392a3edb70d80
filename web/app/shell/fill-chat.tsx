import type { ChatPage } from '#contract/chat';
import { newestMessagesPath, type ShownChat } from '../../data/early-start.ts';
import { TranscriptLine } from '../../pages/chat/transcript-line.tsx';
import { shownMessage, type ShownMessage } from '../../rules/shown-messages.ts';
import { transcriptParts } from '../../rules/transcript-parts.ts';
import type { TranscriptItem } from '../../rules/transcript.ts';
import { consentVersion } from '../../words/chat.ts';
import { handleEarlyInput } from './early-input.ts';
import { painted } from './painted.ts';
import { shellRoot } from './shell-root.ts';
import { parsed, startApp } from './start-app.ts';
import { renderProblem } from './start-problem.ts';
import { toDom } from './to-dom.ts';

/**
 * Writes the newest messages into the served frame before the app starts, which takes 1.5 s longer with 1.6 Mbit/s and
 * an empty cache. React then takes over the same elements with the same data. Whoever has no messages keeps the
 * skeleton.
 */
async function fillChat(): Promise<void> {
  const early = globalThis.earlyStart;
  const response = await early?.responses[newestMessagesPath];
  if (!early?.token || !response?.ok) return;
  const page: ChatPage = await response.clone().json();
  await parsed();
  if (page.consent?.version !== consentVersion || page.messages.length === 0) return;
  const shown = { token: early.token, page, openedAt: Date.now() };
  if (!showConversation(shown)) return;
  early.shownChat = shown;
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

const nothing = () => {};
const line = (item: TranscriptItem<ShownMessage>) => (
  <TranscriptLine item={item} sendAgain={nothing} openHelp={nothing} />
);

handleEarlyInput();
void startApp(fillChat());
