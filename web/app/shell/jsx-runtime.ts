import type { ElementType } from 'react';

/**
 * The functions that JSX is compiled to, in the scripts of the shells. They make what `to-dom.ts` reads; React's own
 * would be 250 bytes more of each page.
 */
export const jsx = (type: ElementType, props: object) => ({ type, props });
export const jsxs = (type: ElementType, props: object) => jsx(type, props);
