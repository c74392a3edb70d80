/** The facts about the signed-in user; by default an approved free user. */
export type Person = {
  phoneNumber?: string | null;
  status?: string | null;
  isTrial?: boolean;
  used?: number;
  tier?: string | null;
  subscriptionStatus?: string | null;
  renewalDate?: string | null;
  cancelAtDate?: string | null;
  scheduled?: string | null;
};

/** A profile in the format of `GET /api/user/me`, also in states that no server would return. */
export function profileOf({ tier = 'free', used = 0, scheduled = null, ...facts }: Person = {}): object {
  const { renewalDate = null, cancelAtDate = null, subscriptionStatus = 'active' } = facts;
  return {
    phoneNumber: facts.phoneNumber === undefined ? '+15551234567' : facts.phoneNumber,
    status: facts.status ?? 'approved',
    isTrial: facts.isTrial ?? false,
    messagesUsedThisPeriod: used,
    metadata: {
      subscriptionTier: tier,
      messagesUsedThisPeriod: used,
      subscriptionStatus,
      renewalDate,
      cancelAtDate,
      scheduledDowngradeTierId: scheduled,
    },
  };
}
