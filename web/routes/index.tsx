import { createFileRoute } from '@tanstack/react-router';
import { Landing } from '../landing/landing.tsx';

export const Route = createFileRoute('/')({ staticData: { isOpen: true }, component: Landing });
