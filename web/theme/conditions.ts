/** Names for the states that the looks react to, beside those that Panda brings. */
export const conditions = {
  calm: '@media (prefers-reduced-motion: no-preference)',
  forced: '@media (forced-colors: active)',
  print: '@media print',
  darkTheme: ':is([data-theme=dark] &)',
};
