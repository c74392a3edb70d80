import type { CollectionPause, Metadata, Profile } from '#contract/schemas';
import type * as v from 'valibot';

type PartialOrNull<T> = { [K in keyof T]?: T[K] | null | undefined };
export type PartialProfile = Omit<PartialOrNull<Profile>, 'metadata' | 'status'> & {
  status?: string | null;
  metadata?:
    | (Omit<PartialOrNull<v.InferOutput<typeof Metadata>>, 'subscriptionTier'> & {
        subscriptionTier?: string | null;
      })
    | null;
};

export type User = {
  phoneNumber: string | null;
  status: string | null;
  isTrial: boolean;
  messagesUsedThisPeriod: number;
  metadata: {
    subscriptionTier: string;
    subscriptionStatus: string | null;
    renewalDate: string | null;
    cancelAtDate: string | null;
    scheduledDowngradeTierId: string | null;
    /** When a new week begins (ISO 8601). */
    resetsAt: string | null;
    collectionPause: CollectionPause | null;
  };
};

export function readUser(profile: PartialProfile): User {
  const metadata = profile.metadata ?? {};
  const used = profile.messagesUsedThisPeriod ?? metadata.messagesUsedThisPeriod ?? 0;
  return {
    phoneNumber: profile.phoneNumber ?? null,
    status: profile.status ?? null,
    isTrial: profile.isTrial ?? false,
    messagesUsedThisPeriod: used,
    metadata: {
      subscriptionTier: metadata.subscriptionTier ?? 'free',
      subscriptionStatus: metadata.subscriptionStatus ?? null,
      renewalDate: metadata.renewalDate ?? null,
      cancelAtDate: metadata.cancelAtDate ?? null,
      scheduledDowngradeTierId: metadata.scheduledDowngradeTierId ?? null,
      resetsAt: metadata.resetsAt ?? null,
      collectionPause: metadata.collectionPause ?? null,
    },
  };
}
