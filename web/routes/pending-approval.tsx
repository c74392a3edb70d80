import { createFileRoute } from '@tanstack/react-router';
import { requirePendingUser } from '../app/guards.ts';
import { PendingApproval } from '../pages/results/pending-approval.tsx';

export const Route = createFileRoute('/pending-approval')({
  beforeLoad: requirePendingUser,
  component: PendingApproval,
});
