import { createFileRoute } from '@tanstack/react-router';
import { SafetyPage } from '../pages/help/safety-page.tsx';

export const Route = createFileRoute('/safety')({
  staticData: { rendersWithoutSession: true },
  component: SafetyPage,
});
