import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { card } from '#styled/recipes';
import { Suspense, lazy, useEffect } from 'react';
import { request } from '../api.ts';
import { queryClient } from '../query-client.ts';
import { platformWords } from '../words/account.ts';
import { CardHead } from './card-head.tsx';
import { PlatformSkeleton } from './platform-skeleton.tsx';

const loadChoice = () => import('./platform-choice.tsx');
const PlatformChoice = lazy(loadChoice);

/** Where the person receives messages; without a known preference there is no card. */
export function PlatformCard() {
  return (
    <QueryClientProvider client={queryClient}>
      <PlatformSection />
    </QueryClientProvider>
  );
}

function PlatformSection() {
  // Along with the answer that it shows, not after it.
  useEffect(() => void loadChoice().catch(() => null), []);
  const { data, isPending } = useQuery({ queryKey: ['platform'], queryFn: () => request('getPlatform'), gcTime: 0 });
  const platform = data?.success ? data.platform : null;
  if (!isPending && !platform) return null;
  return (
    <section className={card({ look: 'raised' })} aria-labelledby="platform" aria-busy={isPending}>
      <CardHead id="platform" title={platformWords.title} />
      <Suspense fallback={<PlatformSkeleton />}>
        {platform ? <PlatformChoice current={platform} /> : <PlatformSkeleton />}
      </Suspense>
    </section>
  );
}
