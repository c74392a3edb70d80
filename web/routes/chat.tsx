import { createFileRoute } from '@tanstack/react-router';
import { requireUser } from '../app/guards.ts';
import { ChatPage } from '../pages/chat/chat-page.tsx';
import { PageSpinner } from '../ui/spinner.tsx';
import { layoutWords } from '#words/layout';

export const Route = createFileRoute('/chat')({
  beforeLoad: requireUser,
  pendingComponent: () => <PageSpinner label={layoutWords.loadingConversation} />,
  component: ChatPage,
});
