import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { externalToken } from './external-token.ts';
import { watchErrors } from './frame/uncaught-error.ts';
import { router } from './router.tsx';
import { start } from './start.ts';

watchErrors();
externalToken.collect();
start();

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>,
  );
}
