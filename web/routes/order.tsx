import { createFileRoute } from '@tanstack/react-router';
import { requireUser } from '../app/guards.ts';
import { OrderPage } from '../pages/order/order-page.tsx';

export const Route = createFileRoute('/order')({
  // Every value is a text.
  validateSearch: (search: { plan?: string }) => search,
  beforeLoad: requireUser,
  component: OrderPage,
});
