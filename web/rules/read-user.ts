import type { Metadata, Profile } from '#contract/schemas';
import type * as v from 'valibot';

type Loose<T> = { [K in keyof T]?: T[K] | null | undefined };
/** A profile as it may arrive: any part can be missing. */
export type LooseProfile = Omit<Loose<Profile>, 'metadata' | 'status'> & {
  status?: string | null;
  metadata?:
    | (Omit<Loose<v.InferOutput<typeof Metadata>>, 'subscriptionTier'> & { subscriptionTier?: string | null })
    | null;
};

export type User = {
  phoneNumber: string | null;
  status: string | null;
  isTrial: boolean;
  messagesUsedThisPeriod: number;
  metadata: {
    subscriptionTier: string;
    messagesUsedThisPeriod: number;
    subscriptionStatus: string | null;
    renewalDate: string | null;
    cancelAtDate: string | null;
    scheduledDowngradeTierId: string | null;
  };
};

/** A user with every part in place, whatever the answer left out. */
export function readUser(profile: LooseProfile): User {
  const metadata = profile.metadata ?? {};
  const used = profile.messagesUsedThisPeriod ?? metadata.messagesUsedThisPeriod ?? 0;
  return {
    phoneNumber: profile.phoneNumber ?? null,
    status: profile.status ?? null,
    isTrial: profile.isTrial ?? false,
    messagesUsedThisPeriod: used,
    metadata: {
      subscriptionTier: metadata.subscriptionTier ?? 'free',
      messagesUsedThisPeriod: used,
      subscriptionStatus: metadata.subscriptionStatus ?? null,
      renewalDate: metadata.renewalDate ?? null,
      cancelAtDate: metadata.cancelAtDate ?? null,
      scheduledDowngradeTierId: metadata.scheduledDowngradeTierId ?? null,
    },
  };
}
