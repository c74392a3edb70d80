/** The options of a Vitest test that runs every time if it stands for its list, and else as a long tour. */
export const fullUnless = (isChosen: boolean) => ({ tags: isChosen ? [] : ['full'] });
