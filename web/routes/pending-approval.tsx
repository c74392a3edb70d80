import { createFileRoute } from '@tanstack/react-router';
import { requirePending } from '../guards.ts';
import { PendingApproval } from '../results/pending-approval.tsx';

export const Route = createFileRoute('/pending-approval')({ beforeLoad: requirePending, component: PendingApproval });
