/** Where the API answers; empty means the site's own origin. */
export const apiBase: string = import.meta.env.VITE_API_BASE ?? '';

/** An address that takes the contact form's message as JSON; empty means that sending is simulated. */
export const contactAddress: string = import.meta.env.VITE_CONTACT_URL ?? '';

/** The build that is running, for people who report a problem. */
export const build: string = import.meta.env.VITE_BUILD ?? import.meta.env.MODE;
