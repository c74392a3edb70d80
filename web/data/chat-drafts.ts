import type { ChatMessage } from '#contract/chat-schemas';
import {
  joinedTexts,
  readDraft,
  withGivenBack,
  withoutArrived,
  type Draft,
} from '../rules/drafts.ts';
import type { PendingMessage } from '../rules/transcript.ts';
import { keptInTab } from './kept-in-tab.ts';
import { session } from './session.ts';
import { createStore } from './store.ts';

type DraftState = Draft & {
  token: string | null;
  /** Whether the tab's draft was read: before, the store must not replace it. */
  isRestored: boolean;
};

const noDraft: DraftState = { token: null, isRestored: false, text: '', pending: [] };
const store = createStore(noDraft);

session.subscribe(() => {
  const { token } = store.get();
  if (token !== null && token !== session.get().token) store.set(noDraft);
});

store.subscribe(() => {
  const { token, isRestored, text, pending } = store.get();
  if (token !== null && isRestored) keepDraft(token, { text, pending });
});

function keepDraft(token: string, draft: Draft): void {
  if (draft.text === '' && draft.pending.length === 0) keptInTab.remove('chat', token);
  else keptInTab.keep('chat', token, draft);
}

export const drafts = {
  get: store.get,
  subscribe: store.subscribe,

  open(token: string): void {
    if (store.get().token !== token) store.set({ ...noDraft, token });
  },

  restore(token: string): void {
    const { isRestored, text, pending, token: current } = store.get();
    if (isRestored || current !== token) return;
    const kept = readDraft(keptInTab.read('chat', token));
    store.set({
      isRestored: true,
      text: joinedTexts(kept.text, text),
      pending: [...kept.pending, ...pending],
    });
  },

  write: (text: string) => store.set({ text }),

  add(message: PendingMessage): void {
    store.set({ pending: [...store.get().pending, message] });
  },

  mark(id: string, state: PendingMessage['state']): void {
    store.set({
      pending: store.get().pending.map((one) => (one.id === id ? { ...one, state } : one)),
    });
  },

  remove(id: string): void {
    store.set({ pending: store.get().pending.filter((one) => one.id !== id) });
  },

  /** Removes messages that were not sent. One that is being sent waits for its response. */
  removeUnsent(): void {
    store.set({ pending: store.get().pending.filter(({ state }) => state !== 'unsent') });
  },

  /** Removes messages that arrived although the response was lost. */
  settle(messages: readonly ChatMessage[]): void {
    const { pending } = store.get();
    const left = withoutArrived(pending, messages);
    if (left.length < pending.length) store.set({ pending: left });
  },

  /** Puts a message back into the field. Beside another text it stays unsent in the list. */
  giveBack(token: string, id: string): void {
    if (store.get().token === token) store.set(withGivenBack(store.get(), id));
    else keepDraft(token, withGivenBack(readDraft(keptInTab.read('chat', token)), id));
  },
};
