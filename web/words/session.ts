/** SPEC 4 and 8. */
export const sessionWords = {
  loggedOut: 'Logged out successfully',
} as const;

/** SPEC 4 and 8. */
export const profileWords = {
  fetchFailed: 'Failed to fetch user profile data.',
  noToken: 'No authentication token available.',
  unexpected: 'An unexpected error occurred while fetching user data.',
} as const;

/** SPEC 5 and 8. */
export const errorWords = {
  sessionExpired: 'Session expired. Please log in again.',
  tokenExpired: 'Your session has expired. Please log in again.',
  pleaseLogIn: 'Please log in to continue',
  noToken: 'No authentication token found',
  noPermission: 'You do not have permission to perform this action',
  permissionDenied: 'Permission denied',
  notFound: 'Resource not found',
  tooManyRequests: 'Too many requests. Please try again later.',
  rateLimit: 'Rate limit exceeded',
  server: 'Server error. Please try again later.',
  failedWithStatus: (status: number) => `Request failed with status ${status}`,
  network: 'Unable to connect to server. Please check your internet connection.',
  unexpected: 'An unexpected error occurred',
} as const;
