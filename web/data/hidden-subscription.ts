import { useQuery } from '@tanstack/react-query';
import type { Hidden } from '../rules/cancel-view.ts';
import type { User } from '../rules/user-profile.ts';
import { request } from './api-client.ts';
import { queryClient } from './query-client.ts';

/** Reads the subscription of a person on a trial, which the profile does not show. */
export function useHidden({ isTrial, metadata }: User, token: string) {
  // A change of the plan brings another profile.
  const queryKey = [
    'subscription',
    token,
    metadata.cancelAtDate,
    metadata.scheduledDowngradeTierId,
  ];
  const queryFn = () => request('getSubscription');
  const options = { queryKey, queryFn, enabled: isTrial, meta: { silent: true } };
  const { data, isPending, refetch } = useQuery(options, queryClient);
  const hidden: Hidden = data ? data.subscription : isPending ? 'loading' : 'unknown';
  return { hidden, refetchHidden: async () => void (isTrial && (await refetch())) };
}
