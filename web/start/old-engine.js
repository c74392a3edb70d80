// Runs unchanged in any engine of the last fifteen years, so it is written for those. One below `build/oldest-engines.ts`,
// except Chrome 110, lacks a part of the first condition: it shows what visitors without JavaScript see, and never starts
// the app.
(function (page, root) {
  if ([].toSorted && self.CompressionStream) return;
  root.setAttribute('data-visitor', 'unscripted');
  // The scripts of the head find the held app by its attribute (`heldApp` of `protocol.ts`).
  var held = page.querySelector('[data-until]');
  if (held) held.removeAttribute('data-until');
  var notices = page.querySelectorAll('noscript');
  for (var at = 0; at < notices.length; at++) notices[at].outerHTML = notices[at].textContent;
})(document, document.documentElement);
