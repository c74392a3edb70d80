import type { ReactNode } from 'react';
import { alert } from '#styled/recipes';
import { Icon } from './icons.tsx';

// The build replaces calls with literal arguments by class names, so that no style functions are shipped.
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
