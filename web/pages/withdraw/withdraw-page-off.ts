/** Stands in for the page where the owner has turned withdrawal off (`vite.config.ts`). */
export const WithdrawPage = () => null;
