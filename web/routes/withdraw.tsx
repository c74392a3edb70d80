import { createFileRoute, notFound } from '@tanstack/react-router';
import { isWithdrawable } from '#words/language';
import { WithdrawPage } from '../pages/withdraw/withdraw-page.tsx';

export const Route = createFileRoute('/withdraw')({
  beforeLoad: () => {
    if (!isWithdrawable) throw notFound();
  },
  component: WithdrawPage,
});
