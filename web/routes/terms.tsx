import { createFileRoute } from '@tanstack/react-router';
import { Terms } from '../legal/terms.tsx';

export const Route = createFileRoute('/terms')({ staticData: { isOpen: true }, component: Terms });
