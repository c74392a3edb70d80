import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect } from 'react';
import { skeleton } from '#styled/recipes';
import { request } from '../../data/api-client.ts';
import { lazyWithFallback } from '../../data/loaded-parts.tsx';
import { useSession } from '../../data/session.ts';
import { NotLoaded } from '../../ui/refresh-page.tsx';
import { platformWords } from '#words/account';
import { AccountCard } from './account-layout.tsx';
import { css } from '#styled/css';
import type { PlatformChoiceProps } from './platform-choice.tsx';

const loadChoice = () => import('./platform-choice.tsx');
const PlatformChoice = lazyWithFallback<PlatformChoiceProps>(loadChoice, NotLoaded);

/** Shows no card while the preference is unknown. */
export function PlatformCard() {
  const token = useSession((session) => session.token);
  // In parallel with the response.
  useEffect(() => void loadChoice().catch(() => null), []);
  const queryKey = ['platform', token];
  const { data, isPending } = useQuery({
    queryKey,
    queryFn: () => request('getPlatform'),
    gcTime: 0,
  });
  const platform = data?.success ? data.platform : null;
  if (!isPending && !platform) return null;
  return (
    <AccountCard
      id="platform"
      title={platformWords.title}
      aria-busy={isPending}
    >
      <Suspense fallback={<PlatformSkeleton />}>
        {platform ? (
          <PlatformChoice
            current={platform}
            queryKey={queryKey}
          />
        ) : (
          <PlatformSkeleton />
        )}
      </Suspense>
    </AccountCard>
  );
}

function PlatformSkeleton() {
  return (
    <div
      className={css({ display: 'grid', gap: '3' })}
      aria-hidden="true"
    >
      {[1, 2].map((row) => (
        <span
          key={row}
          className={`${skeleton()} ${css({ height: '[3.625rem]', borderRadius: 'md' })}`}
        />
      ))}
    </div>
  );
}
