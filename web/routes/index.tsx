import { createFileRoute } from '@tanstack/react-router';
import { css } from '#styled/css';

export const Route = createFileRoute('/')({ component: Landing });

function Landing() {
  return <h1 className={css({ textStyle: 'display', color: 'primary' })}>Solace</h1>;
}
