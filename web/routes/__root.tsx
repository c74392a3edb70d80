import { createRootRoute } from '@tanstack/react-router';
import { AppFrame } from '../frame/app-frame.tsx';

export const Route = createRootRoute({ component: AppFrame });
