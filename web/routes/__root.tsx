import { createRootRouteWithContext } from '@tanstack/react-router';
import type { RouterContext } from '../app/guards.ts';
import { Layout } from '../app/layout.tsx';

export const Route = createRootRouteWithContext<RouterContext>()({ component: Layout });
