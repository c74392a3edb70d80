import { createFileRoute } from '@tanstack/react-router';
import { HelpPage } from '../pages/help/help-page.tsx';

export const Route = createFileRoute('/help-now')({
  staticData: { rendersWithoutSession: true },
  component: HelpPage,
});
