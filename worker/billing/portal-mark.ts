/** Metadata that marks the portal configuration which `npm run stripe:setup` keeps. */
export const portalMark = { solace: 'portal' };
