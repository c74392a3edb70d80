/**
 * Where every sentence of the site stands, and which sections of the specification each group quotes word for word;
 * what a file marks as "ours" is wording that the specification leaves open. Beside these: the two legal texts in
 * `legal/`, names, prices and features of the plans in the contract's catalogue, the sentences of the rules for
 * numbers and codes in the contract's shapes, titles and descriptions for search engines in `head/pages.ts`.
 */
export * from './account.ts'; // 2, 4, 7, 8: the account page
export * from './contact.ts'; // 2, 4, 5: the contact page
export * from './frame.ts'; // 1, 2: header, footer, startup, crash, 404
export * from './landing.ts'; // 1, 2: the landing page
export * from './login.ts'; // 2, 4, 8: the three views of logging in
export * from './plans.ts'; // 2, 9: the plans page
export * from './results.ts'; // 2, 4, 8: result pages, approval, trial
export * from './session.ts'; // 4, 5, 8: session, profile and every failure of a call
