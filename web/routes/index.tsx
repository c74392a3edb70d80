import { createFileRoute } from '@tanstack/react-router';
import { Landing } from '../pages/landing/landing-page.tsx';

export const Route = createFileRoute('/')({
  staticData: { rendersWithoutSession: true },
  component: Landing,
});
