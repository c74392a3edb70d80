/** Metadata that marks the subscription which waits for the end of our own trial; a number has one trial, ever. */
export const trialPlanMark = { begins: 'after_trial' };
