import { createFileRoute } from '@tanstack/react-router';
import { PlansPage } from '../pages/plans/plans-page.tsx';

export const Route = createFileRoute('/plans')({
  staticData: { rendersWithoutSession: true },
  component: PlansPage,
});
