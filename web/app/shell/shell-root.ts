/** The root while it shows the served shell; null once React has taken over. */
export const shellRoot = (): HTMLElement | null => document.querySelector('#root[data-prerendered=shell]');
