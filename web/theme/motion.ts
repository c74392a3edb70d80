import { defineKeyframes } from '@pandacss/dev';

export const keyframes = defineKeyframes({
  spin: { to: { transform: 'rotate(360deg)' } },
  pulse: { '50%': { opacity: '0.45' } },
  breathe: {
    '0%, 100%': { transform: 'scale(0.94)', opacity: '0.5' },
    '50%': { transform: 'scale(1.06)', opacity: '0.9' },
  },
  rise: { from: { transform: 'translateY(0.75rem)', opacity: '0' } },
  appear: { from: { opacity: '0' } },
});
