import { createFileRoute } from '@tanstack/react-router';
import { requireUser } from '../app/guards.ts';
import { CancelPage } from '../pages/cancel/cancel-page.tsx';

export const Route = createFileRoute('/cancel')({
  beforeLoad: requireUser,
  component: CancelPage,
});
