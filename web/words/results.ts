/** SPEC 2, 4 and 8, result pages. */
export const paymentSuccessWords = {
  title: 'Payment Successful!',
  text: 'Your transaction was completed successfully.',
  loading: 'Loading account details...',
  welcome: 'Welcome aboard! Your account has been updated.',
  thanks: 'Thank you for your purchase. Please log in to view your account.',
  note: 'You manage your subscription through the Stripe customer portal, which opens from your account.',
  manage: 'Manage My Account',
  login: 'Go to Login',
  refreshFailed: 'Failed to fully update profile after payment.',
  failed: 'Error processing payment success.',
} as const;

/** SPEC 2, 4 and 8, result pages. */
export const paymentCanceledWords = {
  title: 'Payment Not Completed',
  text: 'Nothing was charged, and your plan stays as it is.',
  tryAgain: 'Try Again',
  home: 'Return to Home',
  support: 'Did something go wrong? Write to {email}.',
} as const;

/** SPEC 2, 4 and 8, result pages. */
export const processingWords = {
  title: 'Processing...',
  text: 'This takes only a moment.',
  success: 'Success!',
  successText: 'Your changes have been processed successfully.',
  account: 'Go to My Account',
  home: 'Back to Home',
} as const;

/** SPEC 2, 4 and 8, result pages. */
export const detailsSavedWords = {
  verifying: 'Verifying payment setup...',
  title: 'Payment details saved',
  text: 'Your payment method has been saved successfully.',
  points: [
    'Your payment method is stored safely by Stripe',
    'It will be used for your next payment',
    'You can change it at any time',
  ],
  account: 'Go to My Account',
  home: 'Back to Home',
} as const;

/** SPEC 2, 4 and 8, result pages. */
export const pendingWords = {
  title: 'Account Pending Approval',
  text: (phone: string) => `The account for ${phone} awaits approval.`,
  notice: 'You will be notified through your preferred messaging platform as soon as it is ready.',
  logout: 'Logout',
} as const;

/** SPEC 2, 4 and 8, result pages. */
export const trialWords = {
  activating: 'Activating Your Trial...',
  text: 'This takes only a moment.',
  activated: 'Trial activated successfully! Welcome.',
  failedTitle: 'Activation Failed',
  failed: 'Failed to activate trial. The link may be invalid or expired.',
  unexpected: 'An unexpected error occurred during activation.',
  missing: 'Activation token is missing. Please check the link.',
  login: 'Go to Login',
} as const;
