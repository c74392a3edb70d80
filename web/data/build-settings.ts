/** The origin of the API; empty for the site's own. */
export const apiBase: string = import.meta.env.VITE_API_BASE ?? '';

/** The address that takes the contact form. Without it, sending is simulated. */
export const contactAddress: string = import.meta.env.VITE_CONTACT_URL ?? '';

export const buildName: string = import.meta.env.VITE_BUILD ?? import.meta.env.MODE;
