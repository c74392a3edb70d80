import type { ReactNode } from 'react';
import { alert } from '#styled/recipes';
import { Icon } from './icons.tsx';

// Literal arguments ship no style functions.
const looks = { calm: alert(), warm: alert({ look: 'warm' }), danger: alert({ look: 'danger' }) };

type Props = { look?: 'calm' | 'warm' | 'danger'; children: ReactNode };

export function Alert({ look = 'calm', children }: Props) {
  return (
    <div
      className={looks[look]}
      role={look === 'danger' ? 'alert' : undefined}
    >
      <Icon name={look === 'danger' ? 'warning' : 'info'} />
      <div>{children}</div>
    </div>
  );
}
