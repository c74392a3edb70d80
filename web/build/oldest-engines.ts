/** `tests/build/engines.test.ts` names what they lack. */
export const oldestEngines = ['chrome111', 'firefox115', 'safari16.4'];
