import { createFileRoute } from '@tanstack/react-router';
import { Terms } from '../legal/terms.tsx';

export const Route = createFileRoute('/terms')({ component: Terms });
