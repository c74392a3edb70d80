/** Conditions of the recipes, besides Panda's own. */
export const conditions = {
  calm: '@media (prefers-reduced-motion: no-preference)',
  forced: '@media (forced-colors: active)',
  print: '@media print',
  returning: ':root[data-visitor=returning] &',
  unscripted: '@media (scripting: none)',
  darkTheme: ':is([data-theme=dark] &)',
};
