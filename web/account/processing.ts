/** What the account page is busy with. */
export type Processing = 'subscription-update' | 'billing-management' | 'delete' | null;
